//! What teams spend of their budgets.

use super::Fleet;
use crate::decision::Placement;
use crate::error::{Error, Result};

impl Fleet {
    /// Takes what was spent of each budget in its present window from now on, in the order of the limits: thousandths of a
    /// device-hour or unit-hour. Unknown counts as nothing.
    pub fn set_spent(&mut self, spent: &[Option<u64>]) -> Result<()> {
        self.quotas.set_spent(spent)
    }

    /// What an hour of a placement spends of each budget, thousandths, in the order of the limits; `None` where it spends
    /// nothing, or the rate of a device is unknown. Refused when a device is not there.
    pub fn spending(&self, placement: &Placement) -> Result<Vec<Option<u64>>> {
        let find = |grant: &crate::decision::Grant| {
            let node = self.inventory.find_node(&placement.cluster, &grant.node);
            let at = node.and_then(|node| self.inventory.find_device(node, grant.id));
            let what = || format!("device {} of {}", grant.id, grant.node);
            at.map(|at| (at, grant.share_milli)).ok_or_else(|| Error::StalePlacement { what: what() })
        };
        let devices = placement.devices.iter().map(find).collect::<Result<Vec<_>>>()?;
        Ok(self.quotas.per_hour(&self.inventory, placement.team.as_deref(), &devices))
    }
}
