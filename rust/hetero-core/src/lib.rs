//! The decisions of hetero-ops, and nothing else: no Python, no input or output, no clock, no randomness, no log.
//!
//! A [`document::FleetDocument`] becomes a [`Fleet`]: sorted nodes, hot columns of free capacity, a mix to measure
//! fragmentation against. A [`Request`] is filtered, packed and scored against it ([`place`]) and answered with a
//! [`Decision`]: a placement, or the reasons for none. [`Fleet::commit`] takes capacity, [`Fleet::release`] gives it
//! back.
//!
//! The same fleet and request give the same bytes, whatever the order of nodes in the file or the number of threads.

#![forbid(unsafe_code)]

pub mod affinity;
pub mod capacity;
pub mod cluster;
pub mod codes;
pub mod decision;
pub mod device;
pub mod digest;
pub mod document;
pub mod domain;
pub mod error;
pub mod explain;
pub mod filter;
pub mod fleet;
pub mod fragmentation;
pub mod fragmentation_report;
mod gang;
mod groups;
pub mod hold;
pub mod inventory;
mod islands;
pub mod kind;
mod low_score;
pub mod measured;
pub mod mix;
pub mod nearest;
pub mod overview;
pub mod pack;
pub mod pairing;
pub mod partition;
pub mod place;
pub mod pool;
pub mod power;
pub mod profile;
pub mod quota;
mod ranking;
pub mod reading;
pub mod reason;
pub mod request;
pub mod score;
pub mod sharing;
pub mod site;
pub mod spot;
pub mod state;
mod tie;
pub mod topology;
pub mod units;
pub mod victims;
pub mod why;
mod work;
mod worth;

pub use decision::{Decision, NoFit, Placement, Verdict};
pub use error::{Error, Result};
pub use explain::explain;
pub use fleet::Fleet;
pub use hold::{HoldId, NamedHold};
pub use place::{Question, place, place_uncut};
pub use request::Request;
pub use score::Policy;
