//! A pipeline: steps that come after others, planned before any of them runs.
//!
//! Two steps *may run together* when neither is sure to be over before the other begins. Where every step says how long it
//! takes, the times of the plan tell; else only the order of the steps, with what waits for what. All that may run together
//! fits together: of each device, of a node's CPU and of its memory, no set of such steps takes more than is free
//! (`load.rs`). Power budgets and limits of teams are kept with a little to spare: there everything counts that may
//! run beside a step, though it may not run all at once.
//!
//! Steps are scheduled one after the other, each as early as it fits, on its first choice that fits then; it waits only
//! where no choice does. Whoever had to wait, or got less than alone, goes earlier in the next round, and so what has another
//! choice makes way for what has none. The best round is the plan.

mod antichain;
mod ask;
mod board;
mod load;
mod near;
mod order;
mod report;
mod schedule;
mod search;

pub use ask::{DagSettings, Pipeline, PipelineStep};
pub use near::{Distance, Nearness};
pub use report::{DagPlan, Peak, PlannedStep};
pub use search::place_dag;
