//! Parts of a worth: what is dearer and cheaper at the same pace is told by one number.
//!
//! What a class can use becomes scarce by how much of a node a step takes; what it can fill, by how much CPU it asks beside
//! that. When half of the openb trace is placed, what steps of one device fill is 1.6 times as dear as at first where they ask
//! for little CPU and half as dear where they ask for much, whatever their shares.

use std::ops::Range;

use crate::units::WHOLE_MILLI;
use crate::worth::demand::Class;

/// How many parts a worth has, a multiple of four.
pub(crate) const PARTS: usize = 24;
/// The part of devices that have CPU beside them.
pub(super) const FED: usize = 0;
/// The first parts of what steps of one device can use, and of several; then of what the same can fill.
const USABLE_BY_ONE: usize = 1;
const USABLE_BY_SEVERAL: usize = 3;
const FILLABLE_BY_ONE: usize = 6;
const FILLABLE_BY_SEVERAL: usize = 21;

/// A share below this one is small, thousandths.
const SMALL_MILLI: u16 = WHOLE_MILLI / 5;
/// CPU, in hundredths of what the mix asks for on average beside such a share: a part ends at each, and the last has no end. Half
/// as many make 7 % more states be scored, half as many again 2 % fewer.
const CPU_PERCENT: [f64; FILLABLE_BY_SEVERAL - FILLABLE_BY_ONE - 1] =
    [35.0, 50.0, 62.0, 75.0, 87.0, 100.0, 115.0, 135.0, 155.0, 180.0, 210.0, 250.0, 300.0, 370.0];

/// Where what a class can use counts, and what it can fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parts {
    pub(super) usable: usize,
    pub(super) fillable: usize,
}

impl Parts {
    pub(super) fn of(class: &Class<'_>, cpu_per_milli: Option<f64>) -> Self {
        let several = match class.count {
            0 | 1 => None,
            2..=3 => Some(0),
            4..=7 => Some(1),
            _ => Some(2),
        };
        if let Some(several) = several {
            return Self { usable: USABLE_BY_SEVERAL + several, fillable: FILLABLE_BY_SEVERAL + several };
        }
        let share = class.shares.iter().flatten().min().copied().unwrap_or(WHOLE_MILLI);
        let average = cpu_per_milli.map_or(f64::INFINITY, |cpu| cpu * f64::from(share));
        let percent = 100.0 * class.cpu_milli as f64 / average;
        let above = CPU_PERCENT.iter().filter(|&&most| percent > most).count();
        Self { usable: USABLE_BY_ONE + usize::from(share >= SMALL_MILLI), fillable: FILLABLE_BY_ONE + above }
    }
}

/// Classes that count in the same parts.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) classes: Range<usize>,
    pub(super) parts: Parts,
}

/// Of parts and how many classes count there, in the order of their numbers.
pub(super) fn segments(counted: impl Iterator<Item = (Parts, usize)>) -> Vec<Segment> {
    let mut start = 0;
    let segment = |(parts, classes): (Parts, usize)| {
        let classes = start..start + classes;
        start = classes.end;
        Segment { classes, parts }
    };
    counted.map(segment).collect()
}
