//! Free capacity: hot columns, changed here only, with checkpoint and rollback.

use crate::hold::Hold;
use crate::pairing::Neighbours;
use crate::request::Choice;
use crate::units::{NodeIdx, WHOLE_MILLI};

/// What is free. `None` is unknown, which no amount can be taken from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// Per device: free share in thousandths; 0 for an unhealthy device.
    pub free_milli: Vec<u16>,
    /// Per node: free CPU, thousandths of a core.
    pub free_cpu_milli: Vec<Option<u64>>,
    /// Per node: free host memory, MiB.
    pub free_memory_mib: Vec<Option<u64>>,
    /// Per device: memory that it reports, MiB.
    usable_mib: Vec<Option<u64>>,
    /// Per device: memory of the shares that asked for memory, and their shares in thousandths. The other shares have as
    /// much of the memory as of the device.
    asked: Vec<Asked>,
    /// Per device: what shares that say what they are bound by have of it.
    neighbours: Vec<Neighbours>,
    /// Per device: whether its memory is so full that no further share is admitted.
    is_full: Vec<bool>,
    undo: Vec<Undo>,
}

/// What the shares of one device that asked for memory have of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) mib: u64,
    pub(crate) milli: u16,
}

/// One overwritten value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Undo {
    Device(usize, u16),
    Asked(usize, Asked),
    Neighbours(usize, Neighbours),
    Cpu(usize, Option<u64>),
    Memory(usize, Option<u64>),
}

/// A point that [`Capacity::rollback`] returns to.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint(usize);

/// There is less than was to be taken, or more would be given back than was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange;

impl Capacity {
    /// Columns of what is free at the start.
    pub fn new(
        free_milli: Vec<u16>,
        usable_mib: Vec<Option<u64>>,
        free_cpu_milli: Vec<Option<u64>>,
        free_memory_mib: Vec<Option<u64>>,
    ) -> Self {
        let devices = free_milli.len();
        Self {
            free_milli,
            free_cpu_milli,
            free_memory_mib,
            usable_mib,
            asked: vec![Asked::default(); devices],
            neighbours: vec![Neighbours::default(); devices],
            is_full: vec![false; devices],
            undo: Vec::new(),
        }
    }

    /// Adds a device: as much of it is free as of another, or all of it.
    pub(crate) fn add(&mut self, like: Option<usize>, usable_mib: Option<u64>) {
        self.free_milli.push(like.map_or(WHOLE_MILLI, |at| self.free_milli[at]));
        self.usable_mib.push(usable_mib);
        self.asked.push(like.map_or(Asked::default(), |at| self.asked[at]));
        self.neighbours.push(like.map_or(Neighbours::default(), |at| self.neighbours[at]));
        self.is_full.push(like.is_some_and(|at| self.is_full[at]));
    }

    /// Leaves nothing free of a device.
    pub(crate) fn close(&mut self, at: usize) {
        self.free_milli[at] = 0;
    }

    /// Drops all devices from a position on.
    pub(crate) fn truncate(&mut self, devices: usize) {
        self.free_milli.truncate(devices);
        self.usable_mib.truncate(devices);
        self.asked.truncate(devices);
        self.neighbours.truncate(devices);
        self.is_full.truncate(devices);
    }

    /// Free share of a device as far as a choice that takes `share_milli` of it can use it: nothing where its memory is
    /// short.
    pub fn free_for(&self, at: usize, choice: &Choice, share_milli: u16) -> u16 {
        let is_admitted = |at: usize| !self.is_full[at] || share_milli >= WHOLE_MILLI;
        let has_room =
            !choice.is_share() || (is_admitted(at) && self.has_memory(at, share_milli, choice.share_memory_mib));
        if has_room { self.free_milli[at] } else { 0 }
    }

    /// Whether a device has memory for one more share; a whole device has all of it. What it reports bounds the sum.
    fn has_memory(&self, at: usize, share_milli: u16, memory_mib: Option<u64>) -> bool {
        if share_milli >= WHOLE_MILLI {
            return true;
        }
        let asked = self.asked[at];
        let Some(usable) = self.usable_mib[at].filter(|_| memory_mib.is_some() || asked.milli > 0) else { return true };
        let whole = u64::from(WHOLE_MILLI);
        let more = memory_mib.map_or(u64::from(share_milli) * usable, |mib| mib.min(usable) * whole);
        self.used_memory(at, usable) + more <= usable * whole
    }

    /// Memory that is in use of a device that reports `usable_mib`, thousandths of a MiB.
    pub(crate) fn used_memory(&self, at: usize, usable_mib: u64) -> u64 {
        let asked = self.asked[at];
        let by_fraction = WHOLE_MILLI.saturating_sub(self.free_milli[at]).saturating_sub(asked.milli);
        u64::from(by_fraction) * usable_mib + asked.mib * u64::from(WHOLE_MILLI)
    }

    /// What shares that asked for memory have of a device.
    pub(crate) fn asked(&self, at: usize) -> Asked {
        self.asked[at]
    }

    /// What shares of a device have that say what they are bound by.
    pub fn neighbours(&self, at: usize) -> Neighbours {
        self.neighbours[at]
    }

    /// What shares that are bound by the same as a choice have of a device, thousandths; 0 where the choice does not say.
    pub(crate) fn alike_milli(&self, at: usize, choice: &Choice) -> u16 {
        choice.bound.map_or(0, |bound| self.neighbours[at].alike_milli(bound))
    }

    /// Whether the memory of a device is so full that no share is admitted.
    pub(crate) fn is_full(&self, at: usize) -> bool {
        self.is_full[at]
    }

    /// Says whether the memory of a device is so full.
    pub(crate) fn set_full(&mut self, at: usize, is_full: bool) {
        self.is_full[at] = is_full;
    }

    /// Marks the present state.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.undo.len())
    }

    /// Undoes everything since the checkpoint.
    pub fn rollback(&mut self, to: Checkpoint) {
        for undo in self.undo.drain(to.0..).rev() {
            match undo {
                Undo::Device(at, was) => self.free_milli[at] = was,
                Undo::Asked(at, was) => self.asked[at] = was,
                Undo::Neighbours(at, was) => self.neighbours[at] = was,
                Undo::Cpu(at, was) => self.free_cpu_milli[at] = was,
                Undo::Memory(at, was) => self.free_memory_mib[at] = was,
            }
        }
    }

    /// Makes everything so far final: no checkpoint reaches back behind it.
    pub fn settle(&mut self) {
        self.undo.clear();
    }

    /// Takes a hold, all or nothing.
    pub fn take(&mut self, hold: &Hold) -> Result<(), OutOfRange> {
        let has_memory = |&at: &usize| self.has_memory(at, hold.share_milli, hold.share_memory_mib);
        if !hold.devices.iter().all(has_memory) {
            return Err(OutOfRange);
        }
        self.all_or_nothing(hold, u64::checked_sub)
    }

    /// Gives a hold back, all or nothing.
    pub fn give(&mut self, hold: &Hold) -> Result<(), OutOfRange> {
        self.all_or_nothing(hold, u64::checked_add)
    }

    fn all_or_nothing(&mut self, hold: &Hold, change: fn(u64, u64) -> Option<u64>) -> Result<(), OutOfRange> {
        let start = self.checkpoint();
        let outcome = self.change(hold, change);
        if outcome.is_err() {
            self.rollback(start);
        }
        outcome
    }

    fn change(&mut self, hold: &Hold, change: fn(u64, u64) -> Option<u64>) -> Result<(), OutOfRange> {
        for &at in &hold.devices {
            let was = self.free_milli[at];
            let is = change(u64::from(was), u64::from(hold.share_milli)).ok_or(OutOfRange)?;
            if is > u64::from(WHOLE_MILLI) {
                return Err(OutOfRange);
            }
            self.undo.push(Undo::Device(at, was));
            self.free_milli[at] = u16::try_from(is).map_err(|_| OutOfRange)?;
            if hold.share_milli < WHOLE_MILLI {
                self.change_shares(at, hold, is < u64::from(was));
            }
        }
        self.change_host(hold.node, hold, change)
    }

    fn change_shares(&mut self, at: usize, hold: &Hold, is_taken: bool) {
        if let Some(mib) = hold.share_memory_mib {
            self.change_asked(at, hold.share_milli, mib.min(self.usable_mib[at].unwrap_or(mib)), is_taken);
        }
        if let Some(bound) = hold.bound {
            let was = self.neighbours[at];
            self.undo.push(Undo::Neighbours(at, was));
            self.neighbours[at] =
                if is_taken { was.with(bound, hold.share_milli) } else { was.without(bound, hold.share_milli) };
        }
    }

    fn change_asked(&mut self, at: usize, milli: u16, mib: u64, is_taken: bool) {
        let was = self.asked[at];
        self.undo.push(Undo::Asked(at, was));
        self.asked[at] = if is_taken {
            Asked { mib: was.mib + mib, milli: was.milli + milli }
        } else {
            Asked { mib: was.mib.saturating_sub(mib), milli: was.milli.saturating_sub(milli) }
        };
    }

    fn change_host(
        &mut self,
        node: NodeIdx,
        hold: &Hold,
        change: fn(u64, u64) -> Option<u64>,
    ) -> Result<(), OutOfRange> {
        let at = node.at();
        if hold.cpu_milli > 0 {
            let was = self.free_cpu_milli[at].ok_or(OutOfRange)?;
            self.undo.push(Undo::Cpu(at, Some(was)));
            self.free_cpu_milli[at] = Some(change(was, hold.cpu_milli).ok_or(OutOfRange)?);
        }
        if hold.memory_mib > 0 {
            let was = self.free_memory_mib[at].ok_or(OutOfRange)?;
            self.undo.push(Undo::Memory(at, Some(was)));
            self.free_memory_mib[at] = Some(change(was, hold.memory_mib).ok_or(OutOfRange)?);
        }
        Ok(())
    }
}
