//! What placing would do over time: the replay of a trace of tasks under placement policies.
//!
//! The protocol and the published policies are those of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing
//! Workloads with Fragmentation Gradient Descent" (USENIX ATC 2023), as the public repository
//! hkust-adsl/kubernetes-scheduler-simulator runs them. Rules and figures are theirs, the code is not.
//!
//! All tasks of a [`Trace`], then tasks drawn from it until they ask for a stated multiple of the fleet's devices, come
//! in random order ([`simulate`]). Each is placed at once or never; none departs. One seed is one run. This crate has no
//! clock: it is given one. [`place_each`] asks many questions about one state. Nothing but the measured times depends on the number of threads.

#![forbid(unsafe_code)]

mod arrival;
mod aware;
mod baseline;
mod device;
mod each;
mod fgd;
mod generator;
mod policy;
mod run;
mod score;
mod simulate;
mod trace;
mod world;

pub use each::place_each;
pub use policy::Policy;
pub use run::{DecisionTime, Run};
pub use simulate::{Question, Report, simulate};
pub use trace::Trace;
