//! Free capacity: hot columns, changed here only, with checkpoint and rollback.

use crate::hold::Hold;
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
    undo: Vec<Undo>,
}

/// One overwritten value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Undo {
    Device(usize, u16),
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
    pub fn new(free_milli: Vec<u16>, free_cpu_milli: Vec<Option<u64>>, free_memory_mib: Vec<Option<u64>>) -> Self {
        Self { free_milli, free_cpu_milli, free_memory_mib, undo: Vec::new() }
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
        }
        self.change_host(hold.node, hold, change)
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
