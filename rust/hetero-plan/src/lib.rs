//! What placing would do over time: the replay of a trace of tasks under placement policies.
//!
//! The protocol and the published policies are those of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing
//! Workloads with Fragmentation Gradient Descent" (USENIX ATC 2023), as the public repository
//! hkust-adsl/kubernetes-scheduler-simulator runs them. Rules and figures are theirs, the code is not.
//!
//! All tasks of a [`Trace`], then tasks drawn from it until they ask for a stated multiple of the fleet's devices, come
//! in random order ([`simulate()`]). Each is placed at once or never; none departs. One seed is one run. Or the tasks come when
//! they came, wait, run as long as they ran, and end ([`simulate_timed`]). This crate has no clock: it is given one.
//! [`place_each`] asks many questions about one state; [`batch`] plans many steps together, [`dag`] a pipeline of them. Nothing but the measured times depends on the number of threads.

#![forbid(unsafe_code)]

mod arrival;
mod baseline;
pub mod batch;
mod contender;
pub mod dag;
mod device;
mod difference;
mod each;
mod fgd;
mod generator;
mod guest;
mod learned;
mod occupancy;
mod policy;
mod run;
mod score;
mod simulate;
mod tenants;
mod timed;
mod trace;
mod watch;
mod world;

pub use contender::{Contender, Rule};
pub use difference::{Difference, Interval};
pub use each::place_each;
pub use guest::{Answer, Asked, AskedTask, Candidate, Foreign, NodeFacts};
pub use policy::Policy;
pub use run::{DecisionTime, Run};
pub use simulate::{Question, Report, simulate};
pub use timed::{Order, TimedQuestion, TimedReport, TimedRun, Waiting, simulate_timed};
pub use trace::{TaskTimes, Trace};
pub use watch::Watch;
