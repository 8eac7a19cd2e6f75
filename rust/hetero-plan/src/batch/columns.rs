//! Column generation: contents of whole nodes, as many of each as is best if nodes could be parted.
//!
//! The restricted programme takes patterns by sort of node; its prices ask each sort for a better pattern, until there is
//! none. Any prices bound every plan (Lagrange, Farley): all steps at their prices, and each node at the best that a content
//! earns beyond them. The best such bound is what a plan is held against.

use std::time::Duration;

use indexmap::IndexSet;
use rayon::prelude::*;

use crate::batch::control::Control;
use crate::batch::field::Field;
use crate::batch::pattern::{COARSE, Class, FINE, Host, MOST_CLASSES, Pattern, Pricing};
use crate::batch::room::{Offer, Room, Shape};
use crate::batch::simplex::Simplex;

/// Sorts and rows beyond which the programme would take longer than searching.
const MOST_SORTS: usize = 300;
const MOST_ROWS: usize = 2000;
/// Rounds at most.
const MOST_ROUNDS: usize = 400;
/// The bound and the programme are near enough, as a part.
const NEAR: f64 = 2e-5;
/// How far the prices that patterns are asked for stay at those of the best bound: plain ones swing.
const INERTIA: f64 = 0.6;
/// A node of which so much is given is settled, when none is given whole.
const SETTLED: f64 = 1.0;
/// Rounds of patterns between two settlements.
const ROUNDS_OF_DIVE: usize = 30;
/// How hosts are counted while patterns are generated.
const EVEN: Host = Host::Mean(2);

/// What the programme found.
#[derive(Debug)]
pub(crate) struct Columns {
    /// No plan counts more.
    pub(crate) bound: f64,
    /// The same for steps that take devices.
    pub(crate) device_bound: f64,
    /// Sorts and contents of whole nodes, those that the programme gives most of first.
    pub(crate) taken: Vec<(usize, Pattern)>,
    pub(crate) classes: Vec<Class>,
}

struct Master<'a> {
    field: &'a Field,
    classes: Vec<Class>,
    pricings: Vec<Pricing>,
    /// By sort.
    nodes: Vec<f64>,
    /// By class: steps that are not settled.
    left: Vec<usize>,
    /// Patterns that ask more of a class than there is are of use while nodes can be parted.
    is_diving: bool,
    simplex: Simplex,
    patterns: IndexSet<(usize, Pattern)>,
}

/// Solves the programme, from the contents of these rooms on, and where that is asked makes whole nodes of its
/// solution; `None` where it has too many rows.
pub(crate) fn columns(
    field: &Field,
    rooms: &[Room],
    control: &Control<'_>,
    (generated, dived): (Duration, Duration),
    is_dived: bool,
) -> Option<Columns> {
    let mut master = Master::new(field, rooms)?;
    for room in rooms {
        let pattern = master.pattern(room);
        master.add(room.sort, pattern);
    }
    let (mut bound, center) = master.generate(MOST_ROUNDS, control, generated);
    let last: Vec<f64> = master.simplex.solve(control, generated).into_iter().map(|price| price.max(0.0)).collect();
    let mut device_bound = f64::INFINITY;
    if !control.is_over(dived) {
        let values = master.values();
        let asked = center.into_iter().chain([last]).map(|prices| (master.bounded(&prices, &values, None), prices));
        if let Some(((_, hosts), prices)) = asked.min_by(|a, b| a.0.0.total_cmp(&b.0.0)) {
            let of_devices = |class: &Class| if class.count == 0 { 0.0 } else { class.value as f64 };
            let of_devices: Vec<f64> = master.classes.iter().map(of_devices).collect();
            bound = bound.min(master.bounded(&prices, &values, Some(&hosts)).0);
            device_bound = master.bounded(&prices, &of_devices, Some(&hosts)).0;
        }
    }
    let taken = if is_dived { master.dive(control, dived) } else { Vec::new() };
    Some(Columns { bound, device_bound, taken, classes: master.classes })
}

impl<'a> Master<'a> {
    fn new(field: &'a Field, rooms: &[Room]) -> Option<Self> {
        let classes = classes(field);
        let rows = field.sorts.len() + classes.len();
        if field.sorts.len() > MOST_SORTS || rows > MOST_ROWS || classes.len() > MOST_CLASSES {
            return None;
        }
        let offers = |sort: usize| -> Vec<&Offer> {
            classes.iter().map(|class| &field.sorts[sort].offers[class.shapes[0]]).collect()
        };
        let pricing = |sort: usize| Pricing::new(&field.sorts[sort], &offers(sort));
        let pricings: Vec<Pricing> = (0..field.sorts.len()).map(pricing).collect::<Option<_>>()?;
        let mut nodes = vec![0.0; field.sorts.len()];
        for room in rooms {
            nodes[room.sort] += 1.0;
        }
        let limits: Vec<f64> = nodes.iter().copied().chain(classes.iter().map(|class| class.demand as f64)).collect();
        let left = classes.iter().map(|class| class.demand).collect();
        Some(Self {
            field,
            classes,
            pricings,
            nodes,
            left,
            is_diving: false,
            simplex: Simplex::new(&limits),
            patterns: IndexSet::new(),
        })
    }

    /// Generates patterns until none earns more than it costs; the best bound on the way, and its prices.
    fn generate(&mut self, rounds: usize, control: &Control<'_>, deadline: Duration) -> (f64, Option<Vec<f64>>) {
        let (mut bound, mut center): (f64, Option<Vec<f64>>) = (f64::INFINITY, None);
        for _ in 0..rounds {
            let prices: Vec<f64> =
                self.simplex.solve(control, deadline).into_iter().map(|price| price.max(0.0)).collect();
            let is_near = bound.is_finite() && bound - self.simplex.total() <= NEAR * bound;
            if is_near || control.is_over(deadline) {
                break;
            }
            let mixed = center.as_ref().map(|center| {
                center.iter().zip(&prices).map(|(old, new)| INERTIA * old + (1.0 - INERTIA) * new).collect::<Vec<f64>>()
            });
            let mut has_grown = false;
            for asked in mixed.iter().chain([&prices]) {
                let (here, found) = self.ask(asked);
                if here < bound {
                    (bound, center) = (here, Some(asked.clone()));
                }
                for (sort, pattern) in found {
                    let pattern = if self.is_diving { self.within(pattern) } else { pattern };
                    if self.nodes[sort] > 0.5 && self.earns(sort, &pattern, &prices) {
                        has_grown |= self.add(sort, pattern);
                    }
                }
                if has_grown {
                    break;
                }
            }
            if !has_grown {
                break;
            }
        }
        (bound, center)
    }

    /// Whole nodes of the solution: those that it gives whole are settled, else those that it gives most of, and the
    /// programme is solved anew for what is left.
    fn dive(&mut self, control: &Control<'_>, deadline: Duration) -> Vec<(usize, Pattern)> {
        let mut settled = Vec::new();
        self.is_diving = true;
        loop {
            self.simplex.solve(control, deadline);
            let solution = self.simplex.solution();
            let mut given: Vec<(usize, f64)> =
                solution.into_iter().enumerate().filter(|(_, nodes)| *nodes > 1e-4).collect();
            given.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable
            let has_whole = given.first().is_some_and(|(_, nodes)| *nodes > 1.0 - 1e-4);
            let least = if has_whole { 1.0 - 1e-4 } else { given.first().map_or(1.0, |(_, nodes)| nodes.min(SETTLED)) };
            let mut has_settled = false;
            for (at, nodes) in given.into_iter().take_while(|(_, nodes)| *nodes >= least || control.is_over(deadline)) {
                let (sort, pattern) = self.patterns.get_index(at).cloned().expect("a column for each");
                let times = (nodes + 1e-4).floor().max(1.0);
                let mut left = times;
                while left > 0.5 && self.nodes[sort] > 0.5 {
                    let pattern = self.taken_from(pattern.clone());
                    self.nodes[sort] -= 1.0;
                    has_settled = true;
                    settled.push((sort, pattern));
                    left -= 1.0;
                }
            }
            if !has_settled || control.is_over(deadline) {
                return settled;
            }
            self.restart();
            self.generate(ROUNDS_OF_DIVE, control, deadline);
        }
    }

    /// A pattern without what is no longer asked; the rest is settled.
    fn taken_from(&mut self, mut pattern: Pattern) -> Pattern {
        let mut is_left = |class: &usize| {
            let left = &mut self.left[*class];
            let is_left = *left > 0;
            *left -= usize::from(is_left);
            is_left
        };
        pattern.several.retain(&mut is_left);
        for (_, _, content) in &mut pattern.shared {
            content.retain(&mut is_left);
        }
        pattern.shared.retain(|(_, _, content)| !content.is_empty());
        pattern.hosted.retain(&mut is_left);
        pattern
    }

    /// The programme for what is left, with the patterns that can still be had.
    fn restart(&mut self) {
        let demands = self.left.iter().map(|&left| left as f64);
        let limits: Vec<f64> = self.nodes.iter().copied().chain(demands).collect();
        self.simplex = Simplex::new(&limits);
        for (sort, pattern) in std::mem::take(&mut self.patterns) {
            if self.nodes[sort] > 0.5 {
                let pattern = self.within(pattern);
                self.add(sort, pattern);
            }
        }
    }

    /// A pattern without what is asked less often than it stands there.
    fn within(&self, mut pattern: Pattern) -> Pattern {
        let mut times = vec![0; self.classes.len()];
        let mut fits = |class: &usize| {
            times[*class] += 1;
            times[*class] <= self.left[*class]
        };
        pattern.several.retain(&mut fits);
        for (_, _, content) in &mut pattern.shared {
            content.retain(&mut fits);
        }
        pattern.shared.retain(|(_, _, content)| !content.is_empty());
        pattern.hosted.retain(&mut fits);
        pattern
    }

    /// What a room holds.
    fn pattern(&self, room: &Room) -> Pattern {
        let sort = &self.field.sorts[room.sort];
        let mut shared: Vec<(usize, u16, Vec<usize>)> = Vec::new();
        let mut pattern = Pattern::default();
        let mut place_of = [usize::MAX; crate::batch::room::MOST_DEVICES];
        for item in &room.items {
            let shape = item.shape as usize;
            let class =
                self.classes.iter().position(|class| class.shapes.contains(&shape)).expect("every shape has one");
            match self.classes[class].count {
                0 => pattern.hosted.push(class),
                1 => {
                    let at = item.devices.trailing_zeros() as usize;
                    if place_of[at] == usize::MAX {
                        let run = sort.offers[shape].runs.iter().find(|run| (run.start..run.end).contains(&at));
                        place_of[at] = shared.len();
                        shared.push((run.map_or(0, |run| run.start), sort.free_milli[at], Vec::new()));
                    }
                    shared[place_of[at]].2.push(class);
                }
                _ => pattern.several.push(class),
            }
        }
        for (_, _, content) in &mut shared {
            content.sort_unstable();
        }
        shared.sort_unstable();
        pattern.several.sort_unstable();
        pattern.hosted.sort_unstable();
        Pattern { shared, ..pattern }
    }

    fn value(&self, pattern: &Pattern) -> f64 {
        pattern.classes().map(|class| self.classes[class].value as f64).sum()
    }

    /// Adds a pattern; false where it is known.
    fn add(&mut self, sort: usize, pattern: Pattern) -> bool {
        let mut entries = vec![(sort, 1.0)];
        let mut classes: Vec<usize> = pattern.classes().collect();
        classes.sort_unstable();
        let sorts = self.field.sorts.len();
        entries.extend(classes.chunk_by(|a, b| a == b).map(|same| (sorts + same[0], same.len() as f64)));
        let gain = self.value(&pattern);
        let is_new = gain > 0.0 && self.patterns.insert((sort, pattern));
        if is_new {
            self.simplex.add(gain, entries);
        }
        is_new
    }

    /// Whether a pattern earns more than it costs at the prices of the programme.
    fn earns(&self, sort: usize, pattern: &Pattern, prices: &[f64]) -> bool {
        let sorts = self.field.sorts.len();
        let costs: f64 = pattern.classes().map(|class| prices[sorts + class]).sum();
        self.value(pattern) > costs + prices[sort] + 1e-6
    }

    /// What one step of each class counts.
    fn values(&self) -> Vec<f64> {
        self.classes.iter().map(|class| class.value as f64).collect()
    }

    /// What each class earns beyond its price; what all steps at their prices count.
    ///
    /// A class that tables cannot count is taken for placed: it earns nothing beyond.
    fn profit(&self, (prices, values): (&[f64], &[f64]), hosts: &[Host], grains: usize) -> (Vec<f64>, f64) {
        let sorts = self.field.sorts.len();
        let is_tiny = |at: usize, class: &Class| {
            let tiny = |host: &Host| self.pricings.iter().any(|of_sort| of_sort.is_tiny(class, at, *host, grains));
            hosts.iter().any(tiny)
        };
        let profit = |(at, class): (usize, &Class)| {
            if is_tiny(at, class) { 0.0 } else { values[at] - prices[sorts + at] }
        };
        let profit: Vec<f64> = self.classes.iter().enumerate().map(profit).map(|profit| profit.max(0.0)).collect();
        let counted = self.classes.iter().zip(&profit).zip(values);
        let counted = counted.map(|((class, profit), value)| class.demand as f64 * (value - profit)).sum();
        (profit, counted)
    }

    /// The bound at these prices, and the best pattern of each sort that really fits.
    fn ask(&self, prices: &[f64]) -> (f64, Vec<(usize, Pattern)>) {
        let (profit, counted) = self.profit((prices, &self.values()), &[EVEN], COARSE);
        let found: Vec<(f64, Pattern)> = self
            .pricings
            .par_iter()
            .map(|of_sort| {
                let (earned, pattern) = of_sort.best(&self.classes, &profit, EVEN, COARSE);
                if of_sort.fits(&self.classes, &pattern) {
                    return (earned, pattern);
                }
                (earned, of_sort.best(&self.classes, &profit, Host::Larger, COARSE).1)
            })
            .collect();
        let of_nodes: f64 = found.iter().zip(&self.nodes).map(|((earned, _), nodes)| earned * nodes).sum();
        (counted + of_nodes, found.into_iter().enumerate().map(|(sort, (_, pattern))| (sort, pattern)).collect())
    }

    /// The bound at these prices, and how each host is counted for it: as stated and in fine grains, else the way that
    /// bounds it best.
    fn bounded(&self, prices: &[f64], values: &[f64], stated: Option<&[Host]>) -> (f64, Vec<Host>) {
        let all = [4, 2, 0].map(Host::Mean);
        let grains = if stated.is_some() { FINE } else { COARSE };
        let (profit, counted) = self.profit((prices, values), &all, grains);
        let least = |(sort, of_sort): (usize, &Pricing)| {
            let tried = stated.map_or(&all[..], |hosts| &hosts[sort..=sort]);
            let earned = tried.iter().map(|&host| (of_sort.best(&self.classes, &profit, host, grains).0, host));
            earned.min_by(|a, b| a.0.total_cmp(&b.0)).expect("some way to count")
        };
        let earned: Vec<(f64, Host)> = self.pricings.par_iter().enumerate().map(least).collect();
        let of_nodes: f64 = earned.iter().zip(&self.nodes).map(|((earned, _), nodes)| earned * nodes).sum();
        (counted + of_nodes, earned.into_iter().map(|(_, host)| host).collect())
    }
}

/// Shapes that are alike.
fn classes(field: &Field) -> Vec<Class> {
    let mut keys: IndexSet<(Vec<&Offer>, [u64; 3], i64)> = IndexSet::new();
    let mut classes: Vec<Class> = Vec::new();
    for (at, shape) in field.shapes.iter().enumerate() {
        let offers = field.sorts.iter().map(|sort| &sort.offers[at]).collect();
        let (class, is_new) =
            keys.insert_full((offers, [shape.count as u64, shape.cpu_milli, shape.memory_mib], shape.value));
        if is_new {
            let &Shape { count, cpu_milli, memory_mib, value, .. } = shape;
            classes.push(Class { shapes: Vec::new(), count, cpu_milli, memory_mib, value, demand: 0 });
        }
        classes[class].shapes.push(at);
        classes[class].demand += shape.tasks.len();
    }
    classes
}
