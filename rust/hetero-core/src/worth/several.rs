//! Steps of several devices, of which all have to be in one run.

use crate::worth::Free;
use crate::worth::demand::{Class, Found};

/// Classes of such steps that differ in their CPU only.
#[derive(Clone, Debug)]
pub(super) struct Several {
    count: u64,
    is_linked: bool,
    /// Per kind: the share taken of each device.
    shares: Vec<Option<u16>>,
    /// Of each class.
    cpu_milli: Vec<u64>,
}

impl Several {
    /// At least one class.
    pub(super) fn new(classes: &[Class<'_>]) -> Self {
        let Class { count, is_linked, shares, .. } = classes[0];
        let cpu_milli = classes.iter().map(|class| class.cpu_milli).collect();
        Self { count: u64::from(count), is_linked, shares: shares.to_vec(), cpu_milli }
    }

    /// How many classes they are.
    pub(super) fn len(&self) -> usize {
        self.cpu_milli.len()
    }

    /// What the steps of each class find on a node, into as many places.
    #[allow(clippy::cast_possible_truncation)] // at most what 1024 devices have
    pub(super) fn find(&self, free: &Free, found: &mut [Found]) {
        let (mut usable_milli, mut slots, mut filled_milli, mut unit_milli) = (0, 0, 0, 0);
        for run in free.runs(self.is_linked).chunk_by(|a, b| a.run == b.run) {
            let Some(share) = self.shares[run[0].kind.at()] else { continue };
            let (mut count, mut of_run) = (0, 0);
            for alike in run.iter().filter(|alike| alike.milli >= share) {
                count += u64::from(alike.count);
                of_run += u64::from(alike.count) * u64::from(alike.milli);
            }
            if count < self.count {
                continue;
            }
            let (steps, unit) = (count / self.count, self.count * u64::from(share));
            usable_milli += of_run;
            slots += steps;
            filled_milli += steps * unit;
            unit_milli = unit_milli.max(unit);
        }
        if slots == 0 {
            found.fill(Found::default());
            return;
        }
        let have = free.cpu_milli.unwrap_or(u64::MAX);
        for (found, &cpu_milli) in found.iter_mut().zip(&self.cpu_milli) {
            let steps = if slots * cpu_milli <= have { slots } else { have / cpu_milli };
            found.usable_milli = if steps > 0 { usable_milli as u32 } else { 0 };
            found.fillable_milli = filled_milli.min(steps * unit_milli) as u32;
        }
    }
}
