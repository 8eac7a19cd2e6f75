//! What a plan costs: waiting, capacity that the mix cannot use, power.

use std::cmp::Ordering;

use hetero_core::fragmentation::weighted_unusable;
use hetero_core::units::{NodeIdx, WHOLE_MILLI};
use hetero_core::{Fleet, document::NodeState};
use serde::Serialize;

use crate::batch::ask::CostWeights;
use crate::batch::room::Room;

/// Differences of cost below this are none.
const ROUNDING: f64 = 1e-12;

/// The cost of a plan and its parts, each 0..=1 before its weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The part of what is asked that waits.
    pub latency: f64,
    /// The part of the capacity that is free and that the mix cannot use; `None` without devices.
    pub fragmentation: Option<f64>,
    /// The part of the power of all boards that belongs to devices in use; `None` where the power of one is unknown.
    pub energy: Option<f64>,
    /// The weighted sum; what is unknown adds nothing.
    pub total: f64,
}

/// Tells plans apart that place alike.
pub(crate) struct Judge<'a> {
    fleet: &'a Fleet,
    weights: CostWeights,
    /// By device: power of its board; `None` where one is unknown.
    power_mw: Option<Vec<u64>>,
    capacity_milli: u64,
    is_blind: bool,
}

impl<'a> Judge<'a> {
    /// A blind one takes all plans that place alike for equal.
    pub(crate) fn new(fleet: &'a Fleet, weights: CostWeights, is_blind: bool) -> Self {
        let inventory = fleet.inventory();
        let power_mw = inventory.devices.iter().map(|device| {
            let kind = &inventory.kinds[device.kind.at()];
            kind.profile.as_ref().filter(|_| kind.partition.is_none()).and_then(|profile| profile.tdp_mw)
        });
        let healthy = inventory.devices.iter().filter(|device| device.is_healthy).count() as u64;
        Self {
            fleet,
            weights,
            power_mw: power_mw.collect(),
            capacity_milli: healthy * u64::from(WHOLE_MILLI),
            is_blind: is_blind || (weights.beta == 0.0 && weights.gamma == 0.0),
        }
    }

    /// Whether all plans that place alike are equal.
    pub(crate) fn is_blind(&self) -> bool {
        self.is_blind
    }

    /// Whether what is left in the rooms is better (`Greater`) than in others. What rounding may have made is equal.
    pub(crate) fn compare<'r>(
        &self,
        rooms: impl Iterator<Item = &'r Room>,
        others: impl Iterator<Item = &'r Room>,
    ) -> Ordering {
        if self.is_blind {
            return Ordering::Equal;
        }
        let of_room = |room: &Room| self.of_node(room.node, &room.free_milli, Some(room.cpu_milli));
        let saved = others.map(of_room).sum::<f64>() - rooms.map(of_room).sum::<f64>();
        if saved.abs() < ROUNDING { Ordering::Equal } else { saved.total_cmp(&0.0) }
    }

    /// The part of the cost that a node has, waiting apart.
    fn of_node(&self, at: NodeIdx, free_milli: &[u16], cpu_milli: Option<u64>) -> f64 {
        let unusable = self.unusable_milli(at, free_milli, cpu_milli) / self.capacity_milli.max(1) as f64;
        let draw = self.power_mw.as_ref().map_or(0.0, |power_mw| {
            let all: u64 = power_mw.iter().sum();
            self.in_use_mw(power_mw, at, free_milli) as f64 / all.max(1) as f64
        });
        self.weights.beta * unusable + self.weights.gamma * draw
    }

    fn unusable_milli(&self, at: NodeIdx, free_milli: &[u16], cpu_milli: Option<u64>) -> f64 {
        let node = self.fleet.node(at);
        if node.state != NodeState::Active {
            return 0.0;
        }
        let mix = self.fleet.mix();
        weighted_unusable(node, free_milli, cpu_milli, mix) as f64 / mix.total_weight.max(1) as f64
    }

    fn in_use_mw(&self, power_mw: &[u64], at: NodeIdx, free_milli: &[u16]) -> u64 {
        let devices = self.fleet.node(at).devices.clone();
        let healthy = |device: &usize| self.fleet.inventory().devices[*device].is_healthy;
        let used = devices.zip(free_milli).filter(|(device, free)| healthy(device) && **free < WHOLE_MILLI);
        used.map(|(device, _)| power_mw[device]).sum()
    }

    /// The cost of a fleet in which a plan is placed, of which so much of what is asked waits.
    pub(crate) fn cost(&self, planned: &Fleet, waiting: u64, asked: u64) -> Cost {
        let latency = if asked == 0 { 0.0 } else { waiting as f64 / asked as f64 };
        let nodes = || (0..planned.inventory().nodes.len()).map(NodeIdx::new);
        let free = |at: NodeIdx| planned.free_milli(at);
        let cpu = |at: NodeIdx| planned.capacity().free_cpu_milli[at.at()];
        let unusable: f64 = nodes().map(|at| self.unusable_milli(at, free(at), cpu(at))).sum();
        let fragmentation = (self.capacity_milli > 0).then(|| unusable / self.capacity_milli as f64);
        let energy = self.power_mw.as_ref().and_then(|power_mw| {
            let draw: u64 = nodes().map(|at| self.in_use_mw(power_mw, at, free(at))).sum();
            let all: u64 = power_mw.iter().sum();
            (all > 0).then(|| draw as f64 / all as f64)
        });
        let CostWeights { alpha, beta, gamma } = self.weights;
        let total = alpha * latency + beta * fragmentation.unwrap_or(0.0) + gamma * energy.unwrap_or(0.0);
        Cost { latency, fragmentation, energy, total }
    }
}
