//! Shapes of one device, several at a time: most of the time of a decision goes into what they find on a node.

use crate::worth::demand::Room;
use crate::worth::free::Alike;

/// How many shapes are looked at together.
pub(super) const LANES: usize = 8;
/// Numbers of 32 bits with a point have no fractions near this one, 3 * 2^22: adding it rounds, and the last bits are whole.
const NO_FRACTIONS: f32 = 12_582_912.0;

/// Shapes of one device each.
#[derive(Clone, Debug)]
pub(super) struct Singles {
    pub(super) len: usize,
    by_kind: Vec<Lanes>,
}

/// The shares that shapes take of a device of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Lanes {
    /// 0 where a shape takes none.
    shares: [f32; LANES],
    /// 1 / share; 0 where a shape takes none. A product is faster than a quotient, most of all side by side.
    reciprocals: [f32; LANES],
}

impl Singles {
    /// By shape and kind: the share taken. At most eight shapes.
    pub(super) fn new(shapes: &[&[Option<u16>]]) -> Self {
        let kinds = shapes.first().map_or(0, |shares| shares.len());
        let mut by_kind = vec![Lanes::default(); kinds];
        for (lane, shares) in shapes.iter().enumerate() {
            for (lanes, share) in by_kind.iter_mut().zip(*shares) {
                if let Some(share) = *share {
                    lanes.shares[lane] = f32::from(share);
                    lanes.reciprocals[lane] = 1.0 / f32::from(share);
                }
            }
        }
        Self { len: shapes.len(), by_kind }
    }

    /// What steps of each shape find.
    ///
    /// Counted in whole numbers with a point: a node has at most 1024 devices of 1000, far below where such numbers have
    /// gaps, and the plainest processors multiply them side by side.
    pub(super) fn rooms(&self, runs: &[Alike]) -> [Room; LANES] {
        let [mut usable, mut slots, mut filled, mut unit] = [[0.0f32; LANES]; 4];
        for alike in runs {
            let (milli, devices) = (f32::from(alike.milli), f32::from(alike.count));
            let lanes = &self.by_kind[alike.kind.at()];
            for lane in 0..LANES {
                let (each, share) = (lanes.steps(lane, milli), lanes.shares[lane]);
                let fits = each.min(1.0);
                usable[lane] += milli * devices * fits;
                slots[lane] += each * devices;
                filled[lane] += each * devices * share;
                unit[lane] = unit[lane].max(share * fits);
            }
        }
        std::array::from_fn(|lane| Room {
            usable_milli: whole(usable[lane]),
            slots: whole(slots[lane]),
            filled_milli: whole(filled[lane]),
            unit_milli: whole(unit[lane]),
        })
    }
}

impl Lanes {
    /// How many steps of a shape fit on a device of which so much is free: the quotient, rounded down.
    fn steps(&self, lane: usize, milli: f32) -> f32 {
        // Half a thousandth more keeps it off whole numbers; one half less makes the nearest whole number the one below.
        ((milli + 0.5) * self.reciprocals[lane] - 0.5 + NO_FRACTIONS) - NO_FRACTIONS
    }
}

/// A whole number below 2^22 without its point.
fn whole(number: f32) -> u64 {
    u64::from((number + NO_FRACTIONS).to_bits().wrapping_sub(NO_FRACTIONS.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_exact() {
        for share in 1..=1000u16 {
            let lanes = Singles::new(&[&[Some(share)]]).by_kind[0];
            for milli in 0..=1000u16 {
                let steps = lanes.steps(0, f32::from(milli));
                assert!((steps - f32::from(milli / share)).abs() < f32::EPSILON, "{milli} / {share}: {steps}");
            }
        }
    }
}
