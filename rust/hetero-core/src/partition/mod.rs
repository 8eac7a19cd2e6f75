//! Hardware partitions: how a device can be cut, which cut suits the mix, and when a step is served by one.
//!
//! [`geometry`] says which partitions fit on a device together, [`layout`] lists what a device can hold and finds the
//! layout that serves the mix best, [`suggestion`] does so for all idle devices, `cut` for the one device that a step needs.

mod cut;
pub mod geometry;
pub mod layout;
mod refusing;
mod stock;
pub mod suggestion;

pub(crate) use cut::{is_for_partitions, placement};
pub(crate) use refusing::refusals;
