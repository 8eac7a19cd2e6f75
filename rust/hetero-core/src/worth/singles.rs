//! Steps of one device, several classes at a time: most of the time of a decision goes into what they find on a node.

use crate::worth::Free;
use crate::worth::demand::{Class, Found};

/// How many classes are looked at together.
pub(super) const LANES: usize = 8;
/// Numbers of 32 bits with a point have no fractions near this one, 3 * 2^22: adding it rounds, and the last bits are whole.
const NO_FRACTIONS: f32 = 12_582_912.0;
/// The same of 64 bits, 3 * 2^51.
const NO_FRACTIONS_64: f64 = 6_755_399_441_055_744.0;
/// More steps than any node has room for.
const MANY: f64 = 2_097_152.0;

/// Classes of steps of one device.
#[derive(Clone, Debug)]
pub(super) struct Singles {
    pub(super) len: usize,
    by_kind: Vec<Lanes>,
    /// 1 / CPU of a step.
    cpu_reciprocals: [f64; LANES],
}

/// The shares that classes take of a device of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Lanes {
    is_any: bool,
    /// 0 where a class takes none.
    shares: [f32; LANES],
    /// 1 / share; 0 where a class takes none. A product is faster than a quotient, most of all side by side.
    reciprocals: [f32; LANES],
}

impl Singles {
    /// At most eight classes.
    pub(super) fn new(classes: &[Class<'_>]) -> Self {
        let kinds = classes.first().map_or(0, |class| class.shares.len());
        let mut by_kind = vec![Lanes::default(); kinds];
        let mut cpu_reciprocals = [MANY; LANES];
        for (lane, class) in classes.iter().enumerate() {
            for (lanes, share) in by_kind.iter_mut().zip(class.shares) {
                if let Some(share) = *share {
                    lanes.is_any = true;
                    lanes.shares[lane] = f32::from(share);
                    lanes.reciprocals[lane] = 1.0 / f32::from(share);
                }
            }
            if class.cpu_milli > 0 {
                cpu_reciprocals[lane] = 1.0 / class.cpu_milli as f64;
            }
        }
        Self { len: classes.len(), by_kind, cpu_reciprocals }
    }

    /// What steps of each class find, into as many places.
    ///
    /// Counted in whole numbers with a point: a node has at most 1024 devices of 1000, far below where such numbers have
    /// gaps, and the plainest processors multiply them side by side. Only what is more than can be filled may be rounded.
    pub(super) fn find(&self, free: &Free, found: &mut [Found]) {
        let [mut usable, mut slots, mut filled, mut unit] = [[0.0f32; LANES]; 4];
        for alike in free.runs(false) {
            let lanes = &self.by_kind[alike.kind.at()];
            if !lanes.is_any {
                continue;
            }
            let (milli, devices) = (f32::from(alike.milli), f32::from(alike.count));
            for lane in 0..LANES {
                let (each, share) = (lanes.steps(lane, milli), lanes.shares[lane]);
                let fits = least(each, 1.0);
                usable[lane] += milli * devices * fits;
                slots[lane] += each * devices;
                filled[lane] += each * devices * share;
                unit[lane] = most(unit[lane], share * fits);
            }
        }
        let cpu_milli = free.cpu_milli.map_or(f64::INFINITY, |cpu_milli| cpu_milli as f64);
        let fed: [f32; LANES] = std::array::from_fn(|lane| self.fed(lane, cpu_milli));
        let mut here = [Found::default(); LANES];
        for lane in 0..LANES {
            let steps = least(slots[lane], fed[lane]);
            here[lane].usable_milli = whole(usable[lane] * least(steps, 1.0));
            here[lane].fillable_milli = whole(least(filled[lane], steps * unit[lane]));
        }
        found.copy_from_slice(&here[..self.len]);
    }

    /// How many steps of a class have CPU, where the node has so much: the quotient, rounded down.
    #[allow(clippy::cast_possible_truncation)] // at most [`MANY`]
    fn fed(&self, lane: usize, cpu_milli: f64) -> f32 {
        let steps = (cpu_milli + 0.5) * self.cpu_reciprocals[lane];
        let steps = if steps < MANY { steps } else { MANY };
        ((steps - 0.5 + NO_FRACTIONS_64) - NO_FRACTIONS_64) as f32
    }
}

impl Lanes {
    /// How many steps of a class fit on a device of which so much is free: the quotient, rounded down.
    fn steps(&self, lane: usize, milli: f32) -> f32 {
        // Half a thousandth more keeps it off whole numbers; one half less makes the nearest whole number the one below.
        ((milli + 0.5) * self.reciprocals[lane] - 0.5 + NO_FRACTIONS) - NO_FRACTIONS
    }
}

/// Without a rule for what is no number, which costs more than the comparison.
fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

fn most(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// A whole number below 2^22 without its point.
fn whole(number: f32) -> u32 {
    (number + NO_FRACTIONS).to_bits().wrapping_sub(NO_FRACTIONS.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(share: u16, cpu_milli: u64) -> Singles {
        Singles::new(&[Class { count: 1, is_linked: false, shares: &[Some(share)], cpu_milli }])
    }

    #[test]
    fn steps_are_exact() {
        for share in 1..=1000u16 {
            let lanes = of(share, 0).by_kind[0];
            for milli in 0..=1000u16 {
                let steps = lanes.steps(0, f32::from(milli));
                assert!((steps - f32::from(milli / share)).abs() < f32::EPSILON, "{milli} / {share}: {steps}");
            }
        }
    }

    #[test]
    fn steps_that_have_cpu_are_exact() {
        for cpu_milli in [1, 3, 7, 99, 999, 1000, 3152, 11_908, 64_001, 1_000_003, 4_000_000_000] {
            let singles = of(1000, cpu_milli);
            for times in [0, 1, 2, 3, 7, 160, 1023, 1024, 99_991, 1_048_576] {
                for (have, steps) in [(times * cpu_milli, times), ((times + 1) * cpu_milli - 1, times)] {
                    let fed = singles.fed(0, have as f64);
                    assert!((f64::from(fed) - steps as f64).abs() < f64::EPSILON, "{have} / {cpu_milli}: {fed}");
                }
            }
        }
        let (unasked, unknown) = (of(1000, 0).fed(0, 0.0), of(1000, 5).fed(0, f64::INFINITY));
        assert!(f64::from(unasked) > 1_024_000.0 && f64::from(unknown) > 1_024_000.0, "{unasked} {unknown}");
    }
}
