//! One run: tasks come one by one, and what is allocated is read when so much has arrived.

use std::collections::BTreeMap;
use std::time::Duration;

use hetero_core::Result;
use indexmap::IndexMap;
use serde::Serialize;

use crate::occupancy::Occupancy;
use crate::watch::Watch;
use crate::world::World;

/// Arrived demand at which allocation is read, thousandths of the capacity; and when all has arrived.
const LEVELS_MILLI: [u32; 4] = [900, 1000, 1100, 1300];

/// Allocation is told at so many moments besides.
const MOMENTS: usize = 100;

/// Time of one decision, microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DecisionTime {
    /// Half of the decisions took no longer.
    pub p50: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
}

/// How one policy fared with one seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// The policy.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// The share of all devices that is allocated when demand of so many capacities has arrived.
    pub allocated_ratio: IndexMap<String, f64>,
    /// The same from moment to moment: when demand of so many hundredths of the whole arrival has come, each in turn.
    pub allocated_over_arrival: Vec<f64>,
    /// At the same moments: what the devices in use draw at their TDP, watt; `None` where a TDP is unknown.
    pub draw_w_over_arrival: Vec<Option<f64>>,
    /// At the end: the part of what is free that the mix cannot use; `None` when nothing is free.
    pub fragmentation_ratio: Option<f64>,
    /// Tasks that were not placed.
    pub failed: usize,
    /// The same by the number of devices that they ask for; 0 where all such tasks were placed.
    pub failed_by_size: IndexMap<String, usize>,
    /// Tasks that arrived.
    pub decisions: usize,
    /// Time spent placing, all decisions together.
    pub seconds: f64,
    /// Time of one decision.
    pub decision_us: DecisionTime,
}

/// Places tasks as they come.
pub(crate) fn run(
    placer: &mut dyn Occupancy,
    world: &World,
    (policy, seed): (&str, u64),
    tasks: &[usize],
    arrival_milli: u32,
    watch: &Watch,
    now: &(dyn Fn() -> Duration + Sync),
) -> Result<Run> {
    let levels = levels(arrival_milli);
    let free: u64 = placer.capacity().free_milli.iter().map(|&milli| u64::from(milli)).sum();
    let (mut arrived, mut allocated, mut failed) = (0u64, world.capacity_milli - free, 0);
    let (mut allocated_at, mut curve): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    let mut draw: Vec<Option<f64>> = Vec::new();
    let whole: u64 = tasks.iter().map(|&class| world.demand_milli(class)).sum();
    let mut times = Vec::with_capacity(tasks.len());
    let mut failed_by_size: BTreeMap<u32, usize> = world.classes.iter().map(|class| (class.ask.count, 0)).collect();
    for &class in tasks {
        watch.tick()?;
        let start = now();
        let is_placed = placer.place(class)?;
        times.push(now().saturating_sub(start));
        let ask = world.classes[class].ask;
        let demand = world.demand_milli(class);
        arrived += demand;
        if is_placed {
            allocated += demand;
        } else {
            failed += 1;
            *failed_by_size.entry(ask.count).or_default() += 1;
        }
        let has_reached =
            |level: u32| u128::from(arrived) * 1000 >= u128::from(world.capacity_milli) * u128::from(level);
        while allocated_at.len() < levels.len() && has_reached(levels[allocated_at.len()]) {
            allocated_at.push(allocated);
        }
        while curve.len() < MOMENTS && arrived * MOMENTS as u64 >= whole * (curve.len() as u64 + 1) {
            curve.push(allocated);
            draw.push(world.draw_w(placer.capacity()));
        }
    }
    curve.resize(MOMENTS, allocated);
    draw.resize(MOMENTS, world.draw_w(placer.capacity()));
    allocated_at.resize(levels.len(), allocated); // where tasks were removed, the last level is not quite reached
    let ratio = |allocated: u64| rounded(allocated as f64 / world.capacity_milli as f64);
    Ok(Run {
        policy: policy.to_owned(),
        seed,
        allocated_ratio: levels.iter().map(|&level| name(level)).zip(allocated_at.into_iter().map(ratio)).collect(),
        allocated_over_arrival: curve.into_iter().map(ratio).collect(),
        draw_w_over_arrival: draw,
        fragmentation_ratio: world.fragmentation_ratio(placer.capacity()).map(rounded),
        failed,
        failed_by_size: failed_by_size.into_iter().map(|(size, failed)| (size.to_string(), failed)).collect(),
        decisions: tasks.len(),
        seconds: rounded(times.iter().sum::<Duration>().as_secs_f64()),
        decision_us: decision_time(times),
    })
}

/// The levels that an arrival reaches, itself the last.
fn levels(arrival_milli: u32) -> Vec<u32> {
    let mut levels: Vec<u32> = LEVELS_MILLI.into_iter().filter(|&level| level < arrival_milli).collect();
    levels.push(arrival_milli);
    levels
}

/// A level as a number of capacities, as `0.9`.
fn name(level_milli: u32) -> String {
    let digits = format!("{:03}", level_milli % 1000);
    let kept = digits.trim_end_matches('0');
    format!("{}.{}", level_milli / 1000, if kept.is_empty() { "0" } else { kept })
}

/// Nearest rank.
pub(crate) fn decision_time(mut times: Vec<Duration>) -> DecisionTime {
    times.sort_unstable();
    let at = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100).max(1);
        let time = times.get(rank - 1).copied().unwrap_or_default();
        (time.as_secs_f64() * 1e7).round() / 10.0
    };
    DecisionTime { p50: at(50), p99: at(99) }
}

/// Six decimals: a thousandth of a device in ten thousand is more than that.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_end_with_the_arrival() {
        assert_eq!(levels(1300), [900, 1000, 1100, 1300]);
        assert_eq!(levels(1250), [900, 1000, 1100, 1250]);
        assert_eq!(levels(500), [500]);
        assert_eq!(levels(2000), [900, 1000, 1100, 1300, 2000]);
    }

    #[test]
    fn levels_are_named_as_people_write_them() {
        assert_eq!([900, 1000, 1250, 50].map(name), ["0.9", "1.0", "1.25", "0.05"]);
    }

    #[test]
    fn times_are_by_nearest_rank() {
        let times = (1..=200).rev().map(Duration::from_micros).collect();
        assert_eq!(decision_time(times), DecisionTime { p50: 100.0, p99: 198.0 });
        assert_eq!(decision_time(vec![Duration::from_nanos(1_540)]), DecisionTime { p50: 1.5, p99: 1.5 });
    }
}
