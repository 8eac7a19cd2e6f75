//! Many steps at once: which of them to place, and where.
//!
//! A plan places every step at most once and keeps every rule of hetero-core. Of two plans the better one is, under
//! [`Objective::Order`], that which places more of the highest priority and greatest age, then more of the next, and so on;
//! under [`Objective::Allocation`] that which places more, whoever it is. A step counts the share of devices that it takes,
//! in thousandths of one, a core of a step that takes none as one of them. Plans that place alike are told apart by what
//! they leave unusable and by power ([`Cost`]).
//!
//! Every solver begins with the plan of [`Solver::Greedy`] and keeps the best that it has seen, so none is worse, and all can
//! be stopped at any time.

mod ask;
mod columns;
mod control;
mod cost;
mod entry;
mod exact;
mod fair;
mod field;
mod genetic;
mod greedy;
mod local;
mod pattern;
mod plan;
mod pool;
mod repair;
mod replay;
mod room;
mod search;
mod simplex;

pub(crate) use ask::value;
pub use ask::{Batch, CostWeights, Objective, Settings, Solver, Task};
pub use control::Control;
pub use cost::Cost;
pub use exact::{Instance, Offer, instance, settled};
pub use plan::{Plan, place_all};
pub use replay::{BatchQuestion, BatchReport, BatchRun, PlannedTask, replay};
