//! Scores of the published policies but FGD: whole numbers, more is better.
//!
//! Where the repository rescales scores over the nodes so that the lowest becomes 0 and the highest 100 (best-fit), only
//! the highest gets 100: rounding is down. The winners are the same without, so it is left out here.
//!
//! Worst-fit mirrors best-fit. The repository's own, which none of its experiments uses, adds 1 for a thousandth of a core
//! and 100 for a thousandth of a device: that looks at devices nearly alone, and at 130 % of the default trace of openb it
//! allocates 84.6 % instead of 88.6 %.

use crate::policy::Policy;

/// CPU of the largest node that scores are scaled by, thousandths of a core.
const LARGEST_CPU_MILLI: i128 = 128_000;
/// Devices of that node, thousandths.
const LARGEST_MILLI: i128 = 8_000;
const WHOLE_MILLI: u16 = 1000;

/// What a task asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// Devices.
    pub(crate) count: u32,
    /// Share of each, thousandths.
    pub(crate) share_milli: u16,
    /// CPU.
    pub(crate) cpu_milli: u64,
}

impl Ask {
    fn demand_milli(self) -> u64 {
        u64::from(self.count) * u64::from(self.share_milli)
    }

    /// Tasks that GPU clustering keeps together: shares of a device, and each number of whole ones. `None` without any.
    pub(crate) fn group(self) -> Option<u32> {
        match (self.count, self.share_milli) {
            (0, _) => None,
            (_, WHOLE_MILLI) => Some(self.count),
            _ => Some(0),
        }
    }
}

/// What a node has where a task fits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Free<'a> {
    /// Free share of every device.
    pub(crate) milli: &'a [u16],
    /// Devices that the task may take, by their place in `milli`.
    pub(crate) usable: &'a [usize],
    /// Free CPU; 0 where it is unknown.
    pub(crate) cpu_milli: u64,
    /// Groups of the tasks that run here, one entry a task.
    pub(crate) groups: &'a [u32],
}

impl Free<'_> {
    fn total_milli(&self) -> u64 {
        self.milli.iter().map(|&milli| u64::from(milli)).sum()
    }
}

/// The score of a node. Random, first fit and what needs more than the node alone have the same everywhere.
pub(crate) fn score(policy: Policy, ask: Ask, free: &Free<'_>) -> i64 {
    match policy {
        Policy::BestFit => best_fit(ask, free),
        Policy::WorstFit => worst_fit(ask, free),
        Policy::DotProduct => dot_product(ask, free),
        Policy::GpuPacking => gpu_packing(ask, free),
        Policy::GpuClustering => gpu_clustering(ask, free),
        Policy::Random | Policy::FirstFit | Policy::Fgd | Policy::Aware => 100,
    }
}

/// 100 x (1 - half of what CPU is left - half of what share is left), each as part of the largest node.
fn best_fit(ask: Ask, free: &Free<'_>) -> i64 {
    let (part, whole) = left_of_largest(ask, free);
    narrow((whole - part) * 100 / whole)
}

/// 100 x (half of what CPU is left + half of what share is left), each as part of the largest node.
fn worst_fit(ask: Ask, free: &Free<'_>) -> i64 {
    let (part, whole) = left_of_largest(ask, free);
    narrow(part * 100 / whole)
}

/// The mean of what CPU and what share is left as parts of the largest node: numerator and denominator.
fn left_of_largest(ask: Ask, free: &Free<'_>) -> (i128, i128) {
    let (cpu, share) = left(ask, free);
    (cpu * LARGEST_MILLI + share * LARGEST_CPU_MILLI, 2 * LARGEST_CPU_MILLI * LARGEST_MILLI)
}

fn left(ask: Ask, free: &Free<'_>) -> (i128, i128) {
    let cpu = i128::from(free.cpu_milli) - i128::from(ask.cpu_milli);
    (cpu, i128::from(free.total_milli()) - i128::from(ask.demand_milli()))
}

/// 100 x (1 - half of the product of what is asked and what is free), over CPU and share as parts of the largest node.
fn dot_product(ask: Ask, free: &Free<'_>) -> i64 {
    let cpu = i128::from(ask.cpu_milli) * i128::from(free.cpu_milli);
    let share = i128::from(ask.demand_milli()) * i128::from(free.total_milli());
    let scale = LARGEST_CPU_MILLI / LARGEST_MILLI;
    let whole = 2 * LARGEST_CPU_MILLI * LARGEST_CPU_MILLI;
    narrow((whole - cpu - scale * scale * share) * 100 / whole)
}

/// In this order: shared devices (100 to 50, less for what is free on them), idle devices of a used node (50 to 33, less
/// for each), an idle node (33 and less, by its devices).
fn gpu_packing(ask: Ask, free: &Free<'_>) -> i64 {
    if ask.count == 0 {
        return 0;
    }
    let idle = count(free.milli.iter().filter(|&&milli| milli == WHOLE_MILLI).count());
    if idle == count(free.milli.len()) {
        return (33 - idle).max(idle);
    }
    let mut fullest: Vec<u16> = free.usable.iter().map(|&at| free.milli[at]).collect();
    fullest.sort_unstable();
    fullest.truncate(ask.count as usize);
    let idle = count(fullest.iter().filter(|&&milli| milli == WHOLE_MILLI).count());
    if idle > 0 {
        return (50 - idle).max(33);
    }
    let percent: i64 = fullest.iter().map(|&milli| i64::from(milli) / 10).sum();
    (100 - percent / 10).max(50)
}

/// By what runs on the node (its group alone 75, its group among others 50, nothing 25, other groups only 0), plus up to 25
/// for what is in use of the largest node.
fn gpu_clustering(ask: Ask, free: &Free<'_>) -> i64 {
    let Some(group) = ask.group() else {
        return 0;
    };
    let is_here = free.groups.contains(&group);
    let base = match (is_here, free.groups.iter().all(|&other| other == group)) {
        (true, true) => 75,
        (true, false) => 50,
        (false, true) => 25, // nothing runs here
        (false, false) => 0,
    };
    base + narrow(25 * (LARGEST_MILLI - i128::from(free.total_milli())) / LARGEST_MILLI)
}

fn count(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

fn narrow(score: i128) -> i64 {
    i64::try_from(score).unwrap_or(if score < 0 { i64::MIN + 2 } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: Ask = Ask { count: 1, share_milli: 400, cpu_milli: 8_000 };
    const PAIR: Ask = Ask { count: 2, share_milli: 1000, cpu_milli: 16_000 };
    const CPU_ONLY: Ask = Ask { count: 0, share_milli: 1000, cpu_milli: 4_000 };

    fn scored(policy: Policy, ask: Ask, milli: &[u16], groups: &[u32]) -> i64 {
        let usable: Vec<usize> = (0..milli.len()).filter(|&at| milli[at] >= ask.share_milli).collect();
        score(policy, ask, &Free { milli, usable: &usable, cpu_milli: 64_000, groups })
    }

    #[test]
    fn best_fit_by_hand() {
        // left: 56 of 128 cores = 0.4375, 1.4 of 8 devices = 0.175; 100 x (1 - 0.21875 - 0.0875) = 69.375
        assert_eq!(scored(Policy::BestFit, SHARE, &[1000, 800], &[]), 69);
        // left: 48 of 128 = 0.375, 0 of 8; 100 x (1 - 0.1875) = 81.25
        assert_eq!(scored(Policy::BestFit, PAIR, &[1000, 1000], &[]), 81);
    }

    #[test]
    fn worst_fit_by_hand() {
        // left: 56 of 128 cores = 0.4375, 1.4 of 8 devices = 0.175; 100 x (0.21875 + 0.0875) = 30.625
        assert_eq!(scored(Policy::WorstFit, SHARE, &[1000, 800], &[]), 30);
        // left: 60 of 128 = 0.46875, 1.8 of 8 = 0.225; 100 x (0.234375 + 0.1125) = 34.6875
        assert_eq!(scored(Policy::WorstFit, CPU_ONLY, &[1000, 800], &[]), 34);
    }

    #[test]
    fn dot_product_by_hand() {
        // CPU 0.0625 x 0.5 = 0.03125, share 0.05 x 0.225 = 0.01125; 100 x (1 - 0.02125) = 97.875
        assert_eq!(scored(Policy::DotProduct, SHARE, &[1000, 800], &[]), 97);
        // CPU 0.125 x 0.5 = 0.0625, share 0.25 x 0.25 = 0.0625; 100 x (1 - 0.0625) = 93.75
        assert_eq!(scored(Policy::DotProduct, PAIR, &[1000, 1000], &[]), 93);
    }

    #[test]
    fn gpu_packing_by_hand() {
        // the fullest that holds it has 0.55 free: 55 % / 10 = 5; 100 - 5
        assert_eq!(scored(Policy::GpuPacking, SHARE, &[1000, 550, 800, 100], &[]), 95);
        // a used node, but an idle device must be taken: 50 - 1; for a pair 50 - 2
        assert_eq!(scored(Policy::GpuPacking, SHARE, &[1000, 1000, 300], &[]), 49);
        assert_eq!(scored(Policy::GpuPacking, PAIR, &[1000, 1000, 300], &[]), 48);
        // an idle node: 33 - its devices
        assert_eq!(scored(Policy::GpuPacking, SHARE, &[1000; 8], &[]), 25);
        assert_eq!(scored(Policy::GpuPacking, CPU_ONLY, &[1000; 8], &[]), 0);
    }

    #[test]
    fn gpu_clustering_by_hand() {
        // 6.2 of 8 devices are not free here: 25 x 6,200 / 8,000 = 19.375
        assert_eq!(scored(Policy::GpuClustering, SHARE, &[1000, 800], &[0]), 75 + 19);
        assert_eq!(scored(Policy::GpuClustering, SHARE, &[1000, 800], &[0, 0]), 75 + 19);
        assert_eq!(scored(Policy::GpuClustering, SHARE, &[1000, 800], &[0, 2]), 50 + 19);
        assert_eq!(scored(Policy::GpuClustering, SHARE, &[1000, 800], &[]), 25 + 19);
        assert_eq!(scored(Policy::GpuClustering, SHARE, &[1000, 800], &[1]), 19);
        // two whole devices are a group of their own: 25 x 6,000 / 8,000 = 18.75
        assert_eq!(scored(Policy::GpuClustering, PAIR, &[1000, 1000], &[2]), 75 + 18);
        assert_eq!(scored(Policy::GpuClustering, CPU_ONLY, &[1000, 800], &[0]), 0);
    }
}
