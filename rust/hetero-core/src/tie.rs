//! What decides between candidates of the same score, before the names of nodes and the ids of devices do.

use crate::fleet::Fleet;
use crate::request::Choice;
use crate::score::Before;

/// Less is better, and what stands first counts first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tie {
    /// What shares that are bound by the same as the step have of its devices, thousandths of one.
    pub(crate) alike_milli: u32,
    /// Devices without a network card on their PCIe root, where such cards are preferred.
    pub(crate) far_from_nic: u32,
    /// Accelerator capacity that the node has left then, thousandths of a device.
    pub(crate) idle_milli: u32,
}

impl Tie {
    /// No other is less.
    pub(crate) const BEST: Self = Self { alike_milli: 0, far_from_nic: 0, idle_milli: 0 };

    /// Of devices of one node, by their positions in the columns.
    pub(crate) fn of(fleet: &Fleet, choice: &Choice, devices: &[usize], before: &Before<'_>) -> Self {
        let (inventory, capacity) = (fleet.inventory(), fleet.capacity());
        let share = |at: usize| u32::from(inventory.kinds[inventory.devices[at].kind.at()].share_for(choice));
        let alike = |&at: &usize| u32::from(capacity.alike_milli(at, choice));
        let far = |&at: &usize| u32::from(!inventory.devices[at].is_near_nic);
        Self {
            alike_milli: if choice.bound.is_none() { 0 } else { devices.iter().map(alike).sum() },
            far_from_nic: if choice.prefers_nic { devices.iter().map(far).sum() } else { 0 },
            idle_milli: before.total_milli() - devices.iter().map(|&at| share(at)).sum::<u32>(),
        }
    }
}
