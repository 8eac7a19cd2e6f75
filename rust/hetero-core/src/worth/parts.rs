//! Parts of a worth: what is dearer and cheaper at the same pace is told by one number.
//!
//! What a class can use becomes scarce by how much of a node it takes; what it can fill, by how much CPU it asks beside that.
//! Over the openb trace, from 200 small steps to a fleet that is full, what the classes of one part can fill is 1.5 to 2 times
//! as dear as at first for those that ask little CPU, and half as dear for those that ask much, whatever their shares.

use crate::units::WHOLE_MILLI;

/// How many parts a worth has, a multiple of four.
pub(crate) const PARTS: usize = 16;
/// The part of devices that have CPU beside them.
pub(super) const FED: usize = 0;
/// The first parts of what steps of one device can use, and of several; then of what the same can fill.
const USABLE_BY_ONE: usize = 1;
const USABLE_BY_MORE: usize = 3;
const FILLABLE_BY_ONE: usize = 6;
const FILLABLE_BY_MORE: usize = 13;

/// A share below this one is small, thousandths.
const SMALL_MILLI: u16 = WHOLE_MILLI / 5;
/// CPU per device, as hundredths of what the mix asks for on average, at most. Above the last one begins the last part.
const CPU_PERCENT: [f64; FILLABLE_BY_MORE - FILLABLE_BY_ONE - 1] = [50.0, 75.0, 100.0, 135.0, 180.0, 250.0];

/// Where what a class can use counts, and what it can fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(super) usable: usize,
    pub(super) fillable: usize,
}

impl Parts {
    /// Of steps of so many devices, of each such a share, with so much CPU in all.
    pub(super) fn of(count: u32, share_milli: u16, cpu_milli: u64, cpu_per_milli: Option<f64>) -> Self {
        let more = match count {
            0 | 1 => None,
            2..=3 => Some(0),
            4..=7 => Some(1),
            _ => Some(2),
        };
        if let Some(more) = more {
            return Self { usable: USABLE_BY_MORE + more, fillable: FILLABLE_BY_MORE + more };
        }
        let usable = USABLE_BY_ONE + usize::from(share_milli >= SMALL_MILLI);
        let average = cpu_per_milli.map_or(f64::INFINITY, |cpu| cpu * f64::from(share_milli));
        let percent = 100.0 * cpu_milli as f64 / average;
        Self { usable, fillable: FILLABLE_BY_ONE + CPU_PERCENT.iter().filter(|&&most| percent > most).count() }
    }
}
