//! How good states can be at most.

use crate::ranking::Outlook;
use crate::score::fragmentation;
use crate::state::StateKey;
use crate::tie::Tie;
use crate::worth::{Drift, PARTS};

/// Points by which rounding may misjudge a bound: each of its numbers is off by 2^-24 of it at most, their sum by ten times that,
/// and a quarter of 100 points hangs on it.
const ROUNDING_POINTS: f64 = 1e-4;
/// Parts of a loss that are added side by side.
const LANES: usize = 4;

/// A number that is not negative, rounded down to 10 binary digits after the first: there are a million bounds, and a decision
/// reads a thousand of them. Nothing below 2^-11 is told from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Floor(u16);

impl Floor {
    const ZERO: Self = Self(0);
    /// Digits of an `f32` that are cut off.
    const CUT: u32 = 13;
    /// 2^115: by so much less is what is kept, for 6 binary digits to tell its size.
    const TIMES: f32 = f32::from_bits((127 + 115) << 23);

    #[allow(clippy::cast_possible_truncation)] // of 16 bits
    fn of(number: f32) -> Self {
        let smaller = number / Self::TIMES;
        let code = if smaller < f32::MIN_POSITIVE { 0 } else { smaller.to_bits() >> Self::CUT };
        Self(code.min(u32::from(u16::MAX)) as u16)
    }

    fn number(self) -> f32 {
        f32::from_bits(u32::from(self.0) << Self::CUT) * Self::TIMES
    }
}

/// How good a state can be at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// NaN where nothing is known of the state, `-inf` where the choice does not fit.
    other_points: f32,
    /// Whose it is, of the states that have its number.
    generation: u32,
    /// What was lost, each part divided by how far its factors had come.
    lost: [Floor; PARTS],
    /// The best that may decide between its candidates and others of their score.
    pub(super) tie: Tie,
}

/// What makes points of bounds: the same for all states of one decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    points_of_fragmentation: f64,
    low: [f32; PARTS],
}

impl Scale {
    #[allow(clippy::cast_possible_truncation)] // the bound is wider than what is cut off
    pub(super) fn new(points_of_fragmentation: f64, now: &Drift) -> Self {
        Self { points_of_fragmentation, low: now.low.map(|low| low as f32) }
    }
}

impl Bound {
    pub(super) const UNKNOWN: Self =
        Self { other_points: f32::NAN, generation: 0, lost: [Floor::ZERO; PARTS], tie: Tie::BEST };

    /// Of a state that was scored now; `None` where the choice does not fit.
    #[allow(clippy::cast_possible_truncation)] // the bound is wider than what is cut off
    pub(super) fn of(outlook: Option<&Outlook>, generation: u32, now: &Drift) -> Self {
        let Some(outlook) = outlook else {
            return Self { other_points: f32::NEG_INFINITY, generation, ..Self::UNKNOWN };
        };
        let lost = |part: usize| Floor::of((outlook.lost.0[part] as f64 / now.high[part]) as f32);
        Self {
            other_points: outlook.other_points as f32,
            generation,
            lost: std::array::from_fn(lost),
            tie: outlook.least_tie,
        }
    }

    /// The same for candidates of which is not known what decides between them.
    pub(super) fn of_any_tie(&self) -> Self {
        Self { tie: Tie::BEST, ..*self }
    }

    /// Whether it says something of a state.
    pub(super) fn is_of(&self, state: StateKey) -> bool {
        self.generation == state.generation && !self.other_points.is_nan()
    }

    /// Whether the choice fits.
    pub(super) fn fits(&self) -> bool {
        self.other_points > f32::NEG_INFINITY
    }

    /// The score at most, where the choice fits: none is below 0, however many points are taken off, and none above 100.
    pub(super) fn most_points(&self, scale: &Scale) -> Option<f64> {
        let mut lanes = [0.0f32; LANES]; // side by side: one after the other, floats may not be added in another order
        for (lost, low) in self.lost.chunks_exact(LANES).zip(scale.low.chunks_exact(LANES)) {
            for lane in 0..LANES {
                lanes[lane] += lost[lane].number() * low[lane];
            }
        }
        let lost: f32 = lanes.iter().sum();
        let value = fragmentation::value(f64::from(lost));
        let points = f64::from(self.other_points) + scale.points_of_fragmentation * value + ROUNDING_POINTS;
        self.fits().then_some(points.clamp(0.0, 100.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_just_below_its_number() {
        for number in [0.0f32, 1e-9, 0.0003, 0.25, 1.0, 1.000_9, 3.0, 1234.5, 6.7e11, 2.2e15] {
            let floor = Floor::of(number).number();
            assert!(floor <= number, "{number}: {floor}");
            assert!(floor >= number * (1.0 - 1.0 / 1024.0) || number < 0.0005, "{number}: {floor}");
        }
        assert!(Floor::of(f32::MAX).number() < f32::MAX);
    }
}
