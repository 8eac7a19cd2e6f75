//! What a device can hold, and the layout that serves the mix best.
//!
//! Of layouts the one is taken after which the class that is worst served for its weight is served best, then the next
//! worst, and so on. Of equals the one that serves more steps like the one that asks, where one does; then the one that
//! leaves least memory over; then the one with fewer partitions.

use std::cmp::{Ordering, Reverse};

use crate::mix::TaskClass;
use crate::partition::geometry::fit_together;
use crate::profile::Partition;

/// Positions among the partitions of a profile, largest first; empty is the undivided device.
pub type Layout = Vec<usize>;

/// What is cut together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// One device, whatever the others of its node are doing: memory stays interleaved as it is.
    Device,
    /// All devices of a node that are alike.
    Node,
}

/// All layouts that a device can hold, the undivided one first.
pub fn layouts(partitions: &[Partition], reach: Reach) -> Vec<Layout> {
    let mut slices: Vec<usize> = (0..partitions.len()).filter(|&at| !partitions[at].starts.is_empty()).collect();
    slices.sort_by_key(|&at| size(&partitions[at]));
    slices.reverse();
    let mut found = vec![Layout::new()];
    longer(partitions, &slices, &mut Layout::new(), &mut found);
    let modes = partitions.iter().enumerate().filter(|(_, part)| is_mode(partitions, part, reach));
    found.extend(modes.map(|(at, part)| vec![at; part.count.unwrap_or(0) as usize]));
    found
}

/// Layouts that begin with `begun` and go on with these partitions, each as often as it fits.
fn longer(partitions: &[Partition], rest: &[usize], begun: &mut Layout, found: &mut Vec<Layout>) {
    for (skipped, &at) in rest.iter().enumerate() {
        begun.push(at);
        if fit_together(&begun.iter().map(|&at| &partitions[at]).collect::<Vec<_>>()) {
            found.push(begun.clone());
            longer(partitions, &rest[skipped..], begun, found);
        }
        begun.pop();
    }
}

/// A mode that fences memory otherwise than the undivided device does is set for all devices of a node at once.
fn is_mode(partitions: &[Partition], part: &Partition, reach: Reach) -> bool {
    let whole = partitions.iter().find(|part| part.is_whole);
    let is_of_device = whole.is_none_or(|whole| whole.memory_domain_mib == part.memory_domain_mib);
    let is_cut = part.starts.is_empty() && part.count > Some(1) && !part.is_of_process;
    is_cut && (is_of_device || reach == Reach::Node)
}

/// Larger is more; of equals the plainer name is more, so that it is taken first.
pub(crate) fn size(part: &Partition) -> (Option<u64>, Option<u32>, Option<u32>, Reverse<&str>) {
    (part.memory_mib, part.memory_slices, part.compute_slices, Reverse(&part.name))
}

/// What is left of a device's memory by a layout, in slices. A mode leaves nothing.
fn slices_left(partitions: &[Partition], layout: &[usize]) -> u32 {
    let taken: u32 = layout.iter().filter_map(|&at| partitions[at].memory_slices).sum();
    let all = layout.first().and_then(|&at| partitions[at].device_memory_slices);
    all.map_or(0, |all| all.saturating_sub(taken))
}

/// A part of a device, and which classes of the mix it can serve; smaller ones first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    pub(crate) memory_mib: u64,
    pub(crate) able: Vec<usize>,
}

/// The expected workload, and how many steps of each class are served so far.
#[derive(Clone, Debug)]
pub(crate) struct Expected<'a> {
    classes: &'a [TaskClass],
    served: Vec<u64>,
}

/// How good a layout is; more is better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Merit {
    /// Steps served and weight of each class, worst served first.
    ratios: Vec<(u64, u64)>,
    rest: (usize, Reverse<u32>, Reverse<usize>),
}

/// Whether one partition or one whole device serves a step; shares of whole devices and gangs are left out.
pub(crate) fn is_judged(class: &TaskClass) -> bool {
    let choice = &class.choice;
    choice.count == 1 && choice.peers == 0 && !choice.is_share()
}

impl<'a> Expected<'a> {
    pub(crate) fn new(classes: &'a [TaskClass]) -> Self {
        Self { classes, served: vec![0; classes.len()] }
    }

    /// Steps served of each class; `None` for those that are not judged.
    pub(crate) fn told(&self) -> Vec<Option<u64>> {
        self.classes.iter().zip(&self.served).map(|(class, &served)| is_judged(class).then_some(served)).collect()
    }

    /// Counts the steps that these parts serve from now on.
    pub(crate) fn serve(&mut self, parts: Vec<Part>) {
        self.served = self.with(parts);
    }

    /// How good a layout is whose parts are free for the mix; `alike` of them would serve another step like the one that asks.
    pub(crate) fn merit(&self, partitions: &[Partition], layout: &[usize], parts: Vec<Part>, alike: usize) -> Merit {
        let served = self.with(parts);
        let judged = self.classes.iter().zip(served).filter(|(class, _)| is_judged(class));
        let mut ratios: Vec<(u64, u64)> = judged.map(|(class, served)| (served, class.weight)).collect();
        ratios.sort_by(by_ratio);
        Merit { ratios, rest: (alike, Reverse(slices_left(partitions, layout)), Reverse(layout.len())) }
    }

    /// Steps that are served with these parts: always one more of the class that is worst served, by the smallest that will do.
    fn with(&self, mut parts: Vec<Part>) -> Vec<u64> {
        parts.sort();
        let mut served = self.served.clone();
        loop {
            let able = parts.iter().flat_map(|part| &part.able);
            let worst = able.min_by(|&&a, &&b| {
                let ratio = |class: usize| (served[class], self.classes[class].weight);
                by_ratio(&ratio(a), &ratio(b)).then(a.cmp(&b))
            });
            let Some(&worst) = worst else { return served };
            let at = parts.iter().position(|part| part.able.contains(&worst)).expect("a part is able");
            parts.remove(at);
            served[worst] += 1;
        }
    }
}

fn by_ratio(a: &(u64, u64), b: &(u64, u64)) -> Ordering {
    (u128::from(a.0) * u128::from(b.1)).cmp(&(u128::from(b.0) * u128::from(a.1)))
}

impl Merit {
    pub(crate) fn is_better_than(&self, other: &Self) -> bool {
        let mut pairs = self.ratios.iter().zip(&other.ratios).map(|(a, b)| by_ratio(a, b));
        pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal).then(self.rest.cmp(&other.rest)).is_gt()
    }
}

#[cfg(test)]
pub(crate) mod samples {
    use super::Partition;

    fn slice(name: &str, compute: u32, memory: u32, count: u32, starts: &[u32]) -> Partition {
        Partition {
            name: name.to_owned(),
            memory_mib: Some(u64::from(memory) * 5 * 1024),
            count: Some(count),
            compute_slices: Some(compute),
            memory_slices: Some(memory),
            device_compute_slices: Some(7),
            device_memory_slices: Some(8),
            starts: starts.to_vec(),
            has_media_engines: name.ends_with("+me"),
            ..Partition::default()
        }
    }

    /// Partitions of a card of seven compute and eight memory slices.
    pub(crate) fn a100() -> Vec<Partition> {
        let each = [0, 1, 2, 3, 4, 5, 6];
        vec![
            slice("1g.5gb", 1, 1, 7, &each),
            slice("1g.5gb+me", 1, 1, 1, &each),
            slice("1g.10gb", 1, 2, 4, &[0, 2, 4, 6]),
            slice("2g.10gb", 2, 2, 3, &[0, 2, 4]),
            slice("3g.20gb", 3, 4, 2, &[0, 4]),
            slice("4g.20gb", 4, 4, 1, &[0]),
            slice("7g.40gb", 7, 8, 1, &[0]),
        ]
    }

    /// Modes of a card: the undivided one, one that keeps its memory as it is, and one that does not.
    pub(crate) fn mi300x() -> Vec<Partition> {
        let mode = |name: &str, count, domain_gib: u64| Partition {
            name: name.to_owned(),
            memory_mib: Some(192 * 1024 / u64::from(count)),
            count: Some(count),
            memory_domain_mib: Some(domain_gib * 1024),
            is_whole: count == 1,
            ..Partition::default()
        };
        vec![mode("spx_nps1", 1, 192), mode("cpx_nps1", 8, 192), mode("cpx_nps4", 8, 48)]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_layout_is_legal_and_none_is_there_twice() {
        let parts = a100();
        let found = layouts(&parts, Reach::Device);
        assert_eq!(found[0], Layout::new());
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
        assert!(found.iter().all(|layout| fit_together(&layout.iter().map(|&at| &parts[at]).collect::<Vec<_>>())));
        for largest in [&[0; 7][..], &[4, 4], &[5, 4], &[6]] {
            assert!(found.iter().any(|layout| layout == largest), "{largest:?}");
        }
    }

    #[test]
    fn one_device_keeps_the_memory_mode_of_its_node() {
        assert_eq!(layouts(&mi300x(), Reach::Device), vec![vec![], vec![1; 8]]);
        assert_eq!(layouts(&mi300x(), Reach::Node), vec![vec![], vec![1; 8], vec![2; 8]]);
    }

    use super::samples::{a100, mi300x};
}
