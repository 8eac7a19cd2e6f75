//! Shapes of one device, several at a time: most of the time of a decision goes into what they find on a node.

use crate::worth::demand::Room;
use crate::worth::free::Alike;

/// How many shapes are looked at together.
pub(super) const LANES: usize = 8;
/// Bits behind the point of a reciprocal: exact for shares and what is free, both at most 1000.
const POINT: u32 = 20;

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
    shares: [u32; LANES],
    /// 2^20 / share, rounded up; 0 where a shape takes none. A product is faster than a quotient, most of all side by side.
    reciprocals: [u32; LANES],
}

impl Singles {
    /// By shape and kind: the share taken. At most eight shapes.
    pub(super) fn new(shapes: &[&[Option<u16>]]) -> Self {
        let kinds = shapes.first().map_or(0, |shares| shares.len());
        let mut by_kind = vec![Lanes::default(); kinds];
        for (lane, shares) in shapes.iter().enumerate() {
            for (lanes, share) in by_kind.iter_mut().zip(*shares) {
                if let Some(share) = *share {
                    lanes.shares[lane] = u32::from(share);
                    lanes.reciprocals[lane] = (1 << POINT) / u32::from(share) + 1;
                }
            }
        }
        Self { len: shapes.len(), by_kind }
    }

    /// What steps of each shape find.
    pub(super) fn rooms(&self, runs: &[Alike]) -> [Room; LANES] {
        let [mut usable, mut slots, mut filled, mut unit] = [[0u32; LANES]; 4];
        for alike in runs {
            let (milli, devices) = (u32::from(alike.milli), u32::from(alike.count));
            let Lanes { shares, reciprocals } = &self.by_kind[alike.kind.at()];
            // Nothing here can overflow: a node has at most 1024 devices of 1000. Checks would keep the lanes apart.
            for lane in 0..LANES {
                let each = milli.wrapping_mul(reciprocals[lane]) >> POINT;
                let steps = each.wrapping_mul(devices);
                let fits = if each > 0 { u32::MAX } else { 0 };
                usable[lane] = usable[lane].wrapping_add(milli.wrapping_mul(devices) & fits);
                slots[lane] = slots[lane].wrapping_add(steps);
                filled[lane] = filled[lane].wrapping_add(steps.wrapping_mul(shares[lane]));
                unit[lane] = unit[lane].max(shares[lane] & fits);
            }
        }
        std::array::from_fn(|lane| Room {
            usable_milli: u64::from(usable[lane]),
            slots: u64::from(slots[lane]),
            filled_milli: u64::from(filled[lane]),
            unit_milli: u64::from(unit[lane]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_are_exact() {
        for share in 1..=1000u16 {
            let lanes = Singles::new(&[&[Some(share)]]).by_kind[0];
            for milli in 0..=1000u32 {
                assert_eq!(milli.wrapping_mul(lanes.reciprocals[0]) >> POINT, milli / u32::from(share));
            }
        }
    }
}
