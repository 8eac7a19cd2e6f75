//! Which steps are placed and which wait, shape by shape.
//!
//! Steps of one shape can stand for each other, so of every shape those that go first are the ones that are placed: a plan
//! is told by how many of each shape it places.

use std::cmp::Ordering;

use crate::batch::room::Shape;

/// The steps that a part of a plan may place.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    /// By shape: the levels of the steps, first those that go first.
    pub(crate) levels: Vec<Vec<u32>>,
    /// By shape: how many are placed.
    pub(crate) placed: Vec<usize>,
    /// Whether all steps are on one level.
    pub(crate) is_flat: bool,
}

impl Pool {
    /// How many of a shape wait.
    pub(crate) fn waiting(&self, shape: usize) -> usize {
        self.levels[shape].len() - self.placed[shape]
    }

    /// What all that is placed counts.
    pub(crate) fn value(&self, shapes: &[Shape]) -> i64 {
        let of_shape = |(shape, &placed): (&Shape, &usize)| shape.value * i64::try_from(placed).unwrap_or(i64::MAX);
        shapes.iter().zip(&self.placed).map(of_shape).sum()
    }

    /// The level of the next step of a shape that waits.
    pub(crate) fn next_level(&self, shape: usize) -> Option<u32> {
        self.levels[shape].get(self.placed[shape]).copied()
    }

    /// Whether placing so many as now is better (`Greater`) than placing as many as `before` says, of the shapes there.
    pub(crate) fn compare(&self, shapes: &[Shape], before: &[(usize, usize)]) -> Ordering {
        if self.is_flat {
            let gain = before.iter().map(|&(shape, was)| {
                let change =
                    i64::try_from(self.placed[shape]).unwrap_or(i64::MAX) - i64::try_from(was).unwrap_or(i64::MAX);
                change * shapes[shape].value
            });
            return gain.sum::<i64>().cmp(&0);
        }
        let mut changes: Vec<(u32, i64)> = Vec::new();
        for &(shape, was) in before {
            let (now, value, levels) = (self.placed[shape], shapes[shape].value, &self.levels[shape]);
            changes.extend(
                levels[was.min(now)..was.max(now)].iter().map(|&level| (level, if now > was { value } else { -value })),
            );
        }
        compare_changes(changes)
    }
}

/// Whether such changes, of what is placed on a level, are for the better (`Greater`): the first level decides on which they
/// do not cancel out.
pub(crate) fn compare_changes(mut changes: Vec<(u32, i64)>) -> Ordering {
    changes.sort_unstable();
    let by_level = changes.chunk_by(|a, b| a.0 == b.0).map(|same| same.iter().map(|change| change.1).sum::<i64>());
    by_level.map(|change| change.cmp(&0)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
