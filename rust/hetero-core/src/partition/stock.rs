//! A kind of device that may be cut: what it can hold, and which classes of the mix each partition can serve.

use crate::filter::kind_misfit;
use crate::fleet::Fleet;
use crate::partition::layout::{Expected, Layout, Part, Reach, is_judged, layouts};
use crate::profile::Partition;
use crate::units::KindIdx;

/// What one kind of device can be cut into.
pub(crate) struct Stock<'a> {
    pub(crate) partitions: &'a [Partition],
    /// Kinds of the partitions.
    pub(crate) kinds: &'a [KindIdx],
    layouts: Vec<Layout>,
    /// The undivided device, and each partition.
    whole: Part,
    parts: Vec<Part>,
}

/// The layout for a step.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) layout: Layout,
    /// The partition that the step takes.
    pub(crate) partition: usize,
}

impl<'a> Stock<'a> {
    /// Of a kind of whole device; `None` where no pool lets it be cut.
    pub(crate) fn of(fleet: &'a Fleet, whole: KindIdx, reach: Reach) -> Option<Self> {
        let inventory = fleet.inventory();
        let kinds = inventory.cuts.get(&whole)?;
        let partitions = &inventory.kinds[whole.at()].profile.as_ref()?.partitions;
        let part = |kind: KindIdx, memory_mib: Option<u64>| {
            let serves = |choice| kind_misfit(&inventory.kinds[kind.at()], choice).is_none();
            let classes = fleet.mix().document.classes.iter().enumerate();
            let able = classes.filter(|(_, class)| is_judged(class) && serves(&class.choice)).map(|(at, _)| at);
            Part { memory_mib: memory_mib.unwrap_or(0), able: able.collect() }
        };
        Some(Self {
            partitions,
            kinds,
            layouts: layouts(partitions, reach),
            whole: part(whole, inventory.kinds[whole.at()].nominal_mib),
            parts: kinds.iter().zip(partitions).map(|(&kind, cut)| part(kind, cut.memory_mib)).collect(),
        })
    }

    /// What a layout offers.
    pub(crate) fn offered(&self, layout: &[usize]) -> Vec<Part> {
        match layout {
            [] => vec![self.whole.clone()],
            _ => layout.iter().map(|&at| self.parts[at].clone()).collect(),
        }
    }

    /// The layout that serves the mix best.
    pub(crate) fn best(&self, expected: &Expected<'_>) -> &Layout {
        let merit = |layout: &Layout| expected.merit(self.partitions, layout, self.offered(layout), 0);
        let mut best = (&self.layouts[0], merit(&self.layouts[0]));
        for layout in &self.layouts[1..] {
            let here = merit(layout);
            if here.is_better_than(&best.1) {
                best = (layout, here);
            }
        }
        best.0
    }

    /// The layout that holds `count` partitions of a kind for a step, and of these the one whose rest serves the mix best; `None`
    /// where none does.
    ///
    /// `serves` says of each partition whether it can serve the step. The smallest that will do are taken.
    pub(crate) fn best_for(&self, count: usize, serves: &[bool], expected: &Expected<'_>) -> Option<Chosen> {
        let mut smallest_first: Vec<usize> = (0..serves.len()).filter(|&at| serves[at]).collect();
        smallest_first.sort_by_key(|&at| (self.partitions[at].memory_mib, self.partitions[at].compute_slices));
        let mut best: Option<(Chosen, _)> = None;
        for layout in &self.layouts {
            let number = |partition: usize| layout.iter().filter(|&&at| at == partition).count();
            let is_enough = |&&at: &&usize| count <= number(at);
            let Some(&partition) = smallest_first.iter().find(is_enough) else { continue };
            let mut rest = layout.clone();
            for _ in 0..count {
                let at = rest.iter().position(|&at| at == partition).expect("so many are there");
                rest.remove(at);
            }
            let alike = rest.iter().filter(|&&at| serves[at]).count();
            let parts = rest.iter().map(|&at| self.parts[at].clone()).collect();
            let merit = expected.merit(self.partitions, layout, parts, alike);
            if best.as_ref().is_none_or(|(_, best)| merit.is_better_than(best)) {
                best = Some((Chosen { layout: layout.clone(), partition }, merit));
            }
        }
        best.map(|(chosen, _)| chosen)
    }

    /// Names of the partitions of a layout, largest first.
    pub(crate) fn names(&self, layout: &[usize]) -> Vec<String> {
        layout.iter().map(|&at| self.partitions[at].name.clone()).collect()
    }
}
