//! The plan of a pipeline.

use hetero_core::{Decision, Fleet};
use serde::Serialize;

use crate::batch::value;
use crate::dag::antichain::heaviest;
use crate::dag::ask::Pipeline;
use crate::dag::near::{Nearness, Source};
use crate::dag::order::Order;
use crate::dag::schedule::Slot;

/// The most devices at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Peak {
    /// How much, thousandths of a device.
    pub device_milli: u64,
    /// Who takes them: steps that may run together.
    pub steps: Vec<usize>,
}

/// What becomes of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedStep {
    /// Where it goes, or why it goes nowhere even alone.
    #[serde(skip)]
    pub decision: Decision,
    /// When it begins, seconds after the pipeline; `None` where a step does not say how long it runs.
    pub start_s: Option<u64>,
    /// Steps that it waits for beside those that it comes after.
    pub waits_for: Vec<usize>,
    /// How far it is from the placed steps that it should be near.
    pub near: Vec<Nearness>,
}

/// The plan of a pipeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DagPlan {
    /// Step by step.
    pub steps: Vec<PlannedStep>,
    /// What the first choices ask for at most at one time, were nothing to wait.
    pub asked_peak: Peak,
    /// What is granted at most at one time.
    pub peak: Peak,
    /// When the last step ends, seconds; `None` where a step does not say how long it runs.
    pub makespan_s: Option<u64>,
}

impl DagPlan {
    pub(crate) fn new(
        fleet: &Fleet,
        pipeline: &Pipeline,
        order: &Order,
        (slots, planned): (Vec<Slot>, &Order),
        alone: Vec<Decision>,
    ) -> Self {
        let is_timed = pipeline.is_timed();
        let asked = pipeline
            .requests
            .iter()
            .map(|request| if request.choices[0].is_cpu_only() { 0 } else { value(fleet, request) });
        let asked: Vec<u64> = asked.collect();
        let granted = slots.iter().map(|slot| {
            let devices = slot.placement.iter().flat_map(|placement| &placement.devices);
            devices.map(|grant| u64::from(grant.share_milli)).sum()
        });
        let granted: Vec<u64> = granted.collect();
        let earliest = is_timed.then(|| Order::of_times(&order.earliest(&pipeline.ticks())));
        let near = |(at, slot): (usize, &Slot)| -> Vec<Nearness> {
            let Some(placement) = &slot.placement else { return Vec::new() };
            let placed = |&other: &usize| Some(Source::of(other, slots[other].placement.as_ref()?));
            pipeline.steps[at].near.iter().filter_map(placed).map(|source| source.nearness(placement)).collect()
        };
        let near: Vec<Vec<Nearness>> = slots.iter().enumerate().map(near).collect();
        let asked_peak = peak(&asked, earliest.as_ref().unwrap_or(order));
        let peak = peak(&granted, planned);
        let makespan_s = slots.iter().map(|slot| slot.end).max().filter(|_| is_timed);
        let step = |((slot, near), alone): ((Slot, Vec<Nearness>), Decision)| PlannedStep {
            decision: slot.placement.map_or(alone, |placement| Decision::Placement(Box::new(placement))),
            start_s: is_timed.then_some(slot.start),
            waits_for: slot.waits_for,
            near,
        };
        let steps = slots.into_iter().zip(near).zip(alone).map(step).collect();
        Self { steps, asked_peak, peak, makespan_s }
    }
}

/// The peak; of several the earliest, as [`heaviest`] finds the latest, and here time runs back.
fn peak(device_milli: &[u64], order: &Order) -> Peak {
    let (device_milli, steps) = heaviest(device_milli, |one, other| order.is_before(other, one));
    Peak { device_milli, steps }
}
