//! The best content of a node at given prices, by dynamic programming over devices, shares and CPU.
//!
//! Shares and the host's part are counted in grains. The host's part of a step is one number. A mean of its parts of CPU and of
//! host memory, rounded down, lets more fit than really does, so what comes out bounds every content; the larger of the two,
//! rounded up, lets only fit what does.

use crate::batch::room::{Offer, Sort};

/// Grains of a node's host: while patterns are generated, and for the bound in the end.
pub(crate) const COARSE: usize = 192;
pub(crate) const FINE: usize = 768;
/// Grains of a device at most; where shares are no multiples of so large a grain they are rounded.
const MOST_SHARE_GRAINS: u16 = 200;
const NOTHING: u16 = u16::MAX;
const WHOLE: u16 = 1000;

/// Steps that are alike.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// The shapes that it stands for.
    pub(crate) shapes: Vec<usize>,
    pub(crate) count: usize,
    pub(crate) cpu_milli: u64,
    pub(crate) memory_mib: u64,
    pub(crate) value: i64,
    /// How many steps there are.
    pub(crate) demand: usize,
}

/// What a node may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Pattern {
    /// By device in use: its run, what is free on it, and the classes on it.
    pub(crate) shared: Vec<(usize, u16, Vec<usize>)>,
    /// Classes of several devices.
    pub(crate) several: Vec<usize>,
    /// Classes of none.
    pub(crate) hosted: Vec<usize>,
}

impl Pattern {
    /// All classes, as often as they are in it.
    pub(crate) fn classes(&self) -> impl Iterator<Item = usize> {
        let shared = self.shared.iter().flat_map(|(_, _, classes)| classes);
        shared.chain(&self.several).chain(&self.hosted).copied()
    }
}

/// How what steps take of a host is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// So many quarters of the part of CPU, the rest of that of memory, rounded down: nothing that fits is missed.
    Mean(u64),
    /// The larger part, rounded up: all that comes out fits.
    Larger,
}

/// What is free on the devices of a run of a sort.
#[derive(Clone, Debug)]
struct Group {
    start: usize,
    whole: usize,
    partly: Vec<u16>,
}

/// One sort, ready to be asked at many prices.
#[derive(Clone, Debug)]
pub(crate) struct Pricing {
    groups: Vec<Group>,
    cpu_milli: u64,
    memory_mib: u64,
    share_grain: u16,
    /// By class: whether it is admitted, and by group the share that it takes.
    offers: Vec<(bool, Vec<Option<u16>>)>,
}

/// A table over CPU grains with what each entry is made of.
struct Stage {
    value: Vec<f64>,
    from: Vec<u16>,
}

/// Values and last classes over share and CPU grains.
struct DeviceTable {
    value: Vec<f64>,
    from: Vec<u16>,
}

impl Pricing {
    /// `offers` is by class. `None` where devices of a node cannot be told apart by their runs.
    pub(crate) fn new(sort: &Sort, offers: &[&Offer]) -> Option<Self> {
        let mut runs: Vec<(usize, usize)> =
            offers.iter().flat_map(|offer| &offer.runs).map(|run| (run.start, run.end)).collect();
        runs.sort_unstable();
        runs.dedup();
        if runs.windows(2).any(|pair| pair[0].1 > pair[1].0) {
            return None;
        }
        let shares = offers.iter().flat_map(|offer| &offer.runs).map(|run| run.share_milli);
        let free = sort.free_milli.iter().copied();
        let grain = shares.chain(free).filter(|&milli| milli > 0).fold(WHOLE, gcd);
        let share_grain = if WHOLE / grain <= MOST_SHARE_GRAINS { grain } else { WHOLE / MOST_SHARE_GRAINS };
        let group = |&(start, end): &(usize, usize)| {
            let free = &sort.free_milli[start..end];
            let mut partly: Vec<u16> = free.iter().copied().filter(|&milli| milli > 0 && milli < WHOLE).collect();
            partly.sort_unstable();
            Group { start, whole: free.iter().filter(|&&milli| milli >= WHOLE).count(), partly }
        };
        let of_group = |offer: &Offer| {
            let share = |&(start, _): &(usize, usize)| {
                offer.runs.iter().find(|run| run.start == start).map(|run| run.share_milli)
            };
            (offer.is_admitted, runs.iter().map(share).collect())
        };
        Some(Self {
            groups: runs.iter().map(group).collect(),
            cpu_milli: sort.cpu_milli,
            memory_mib: sort.memory_mib,
            share_grain,
            offers: offers.iter().map(|offer| of_group(offer)).collect(),
        })
    }

    /// The best content at these profits of the classes, and what it earns.
    pub(crate) fn best(&self, classes: &[Class], profit: &[f64], host: Host, all: usize) -> (f64, Pattern) {
        let cpu = |class: usize| self.of_host(&classes[class], host, all);
        let able = |class: &usize| self.offers[*class].0 && profit[*class] > 1e-9 && self.holds(&classes[*class]);
        let able: Vec<usize> = (0..classes.len()).filter(able).collect();
        let hosted = hosted(&able, classes, profit, all, cpu);
        let mut last = hosted.value.clone();
        let mut steps: Vec<(usize, DeviceTable, Vec<Stage>)> = Vec::new();
        for (at, group) in self.groups.iter().enumerate() {
            let table = self.device(at, &able, classes, profit, all, cpu, host);
            let rows = usize::from(WHOLE / self.share_grain);
            let mut stages = vec![Stage { value: last.clone(), from: vec![NOTHING; all + 1] }];
            for whole in 1..=group.whole {
                let full = &table.value[rows * (all + 1)..(rows + 1) * (all + 1)];
                let mut stage = joined(&stages[whole - 1].value, full);
                for &class in able.iter().filter(|&&class| classes[class].count > 1 && classes[class].count <= whole) {
                    if self.offers[class].1[at].is_none() {
                        continue;
                    }
                    let (rest, cpu) = (&stages[whole - classes[class].count].value, cpu(class));
                    for used in cpu..=all {
                        let value = rest[used - cpu] + profit[class];
                        if value > stage.value[used] {
                            (stage.value[used], stage.from[used]) = (value, several(class));
                        }
                    }
                }
                stages.push(stage);
            }
            for &free in &group.partly {
                let row = usize::from(free / self.share_grain);
                let stage =
                    joined(&stages[stages.len() - 1].value, &table.value[row * (all + 1)..(row + 1) * (all + 1)]);
                stages.push(stage);
            }
            last.clone_from(&stages[stages.len() - 1].value);
            steps.push((at, table, stages));
        }
        let mut pattern = Pattern::default();
        let mut used = all;
        for (at, table, stages) in steps.iter().rev() {
            used = self.walk(*at, table, stages, (classes, used, all), cpu, host, &mut pattern);
        }
        while hosted.from[used] != NOTHING {
            let class = usize::from(hosted.from[used]);
            pattern.hosted.push(class);
            used -= cpu(class);
        }
        (last[all], pattern)
    }

    /// The best content of one device, by what is free of it and by CPU.
    #[allow(clippy::too_many_arguments)]
    fn device(
        &self,
        group: usize,
        able: &[usize],
        classes: &[Class],
        profit: &[f64],
        all: usize,
        cpu: impl Fn(usize) -> usize,
        host: Host,
    ) -> DeviceTable {
        let (rows, width) = (usize::from(WHOLE / self.share_grain), all + 1);
        let mut table = DeviceTable { value: vec![0.0; (rows + 1) * width], from: vec![NOTHING; (rows + 1) * width] };
        for &class in able.iter().filter(|&&class| classes[class].count == 1) {
            let Some(share) = self.offers[class].1[group].map(|share| self.grains(share, host)) else { continue };
            let (cpu, profit) = (cpu(class), profit[class]);
            let name = u16::try_from(class).unwrap_or(NOTHING);
            for row in share.max(1)..=rows {
                let (before, here) = table.value.split_at_mut(row * width);
                let from = &mut table.from[row * width + cpu..(row + 1) * width];
                let rest = &before[(row - share) * width..(row - share + 1) * width - cpu];
                for ((value, from), rest) in here[cpu..width].iter_mut().zip(from).zip(rest) {
                    if rest + profit > *value {
                        (*value, *from) = (rest + profit, name);
                    }
                }
            }
        }
        table
    }

    fn grains(&self, share_milli: u16, host: Host) -> usize {
        let is_up = host == Host::Larger;
        let grains = if is_up { share_milli.div_ceil(self.share_grain) } else { share_milli / self.share_grain };
        usize::from(grains.max(1))
    }

    /// Reads what the devices of a group hold; the CPU that is left to the groups before it.
    #[allow(clippy::too_many_arguments)]
    fn walk(
        &self,
        at: usize,
        table: &DeviceTable,
        stages: &[Stage],
        (classes, mut used, all): (&[Class], usize, usize),
        cpu: impl Fn(usize) -> usize,
        host: Host,
        pattern: &mut Pattern,
    ) -> usize {
        let group = &self.groups[at];
        let mut device = stages.len() - 1;
        while device > 0 {
            let from = stages[device].from[used];
            if let Some(class) = of_several(from) {
                pattern.several.push(class);
                (device, used) = (device - classes[class].count, used - cpu(class));
                continue;
            }
            let free = if device <= group.whole { WHOLE } else { group.partly[device - group.whole - 1] };
            let mut content = Vec::new();
            let (mut row, mut here) = (usize::from(free / self.share_grain), usize::from(from));
            used -= here;
            loop {
                match table.from[row * (all + 1) + here] {
                    NOTHING => break,
                    class => {
                        let class = usize::from(class);
                        content.push(class);
                        row -= self.grains(self.offers[class].1[at].unwrap_or(WHOLE), host);
                        here -= cpu(class);
                    }
                }
            }
            if !content.is_empty() {
                content.sort_unstable();
                pattern.shared.push((group.start, free, content));
            }
            device -= 1;
        }
        used
    }

    /// Whether the host could hold one step.
    fn holds(&self, class: &Class) -> bool {
        class.cpu_milli <= self.cpu_milli && class.memory_mib <= self.memory_mib
    }

    /// Grains of a host of `all` that a step takes.
    fn of_host(&self, class: &Class, host: Host, all: usize) -> usize {
        let (all, cpu_all, memory_all) =
            (all as u128, u128::from(self.cpu_milli.max(1)), u128::from(self.memory_mib.max(1)));
        let (cpu, memory) = (u128::from(class.cpu_milli), u128::from(class.memory_mib));
        let grains = match host {
            Host::Mean(quarters) => {
                let quarters = u128::from(quarters);
                all * (quarters * cpu * memory_all + (4 - quarters) * memory * cpu_all) / (4 * cpu_all * memory_all)
            }
            Host::Larger => (all * cpu).div_ceil(cpu_all).max((all * memory).div_ceil(memory_all)),
        };
        usize::try_from(grains).unwrap_or(usize::MAX)
    }

    /// Whether a class is smaller than a grain, so that tables cannot count it.
    pub(crate) fn is_tiny(&self, class: &Class, offered: usize, host: Host, all: usize) -> bool {
        let (is_admitted, shares) = &self.offers[offered];
        let is_nothing = class.count == 0 && self.of_host(class, host, all) == 0;
        *is_admitted && (is_nothing || shares.iter().flatten().any(|&share| share < self.share_grain))
    }

    /// Whether a pattern fits the host and the devices as they are.
    pub(crate) fn fits(&self, classes: &[Class], pattern: &Pattern) -> bool {
        let cpu: u64 = pattern.classes().map(|class| classes[class].cpu_milli).sum();
        let group = |start: usize| self.groups.iter().position(|group| group.start == start);
        let memory: u64 = pattern.classes().map(|class| classes[class].memory_mib).sum();
        cpu <= self.cpu_milli
            && memory <= self.memory_mib
            && pattern.shared.iter().all(|(start, free, content)| {
                let share = |&class: &usize| {
                    group(*start).and_then(|at| self.offers[class].1[at]).map_or(u32::MAX >> 8, u32::from)
                };
                content.iter().map(share).sum::<u32>() <= u32::from(*free)
            })
    }
}

/// Of a stage: from here on, classes of several devices; below, the CPU of the device.
const SEVERAL: u16 = 1 << 12;
/// Classes at most, so that a mark is none.
pub(crate) const MOST_CLASSES: usize = 1 << 15;

fn several(class: usize) -> u16 {
    SEVERAL + u16::try_from(class).unwrap_or(0)
}

fn of_several(from: u16) -> Option<usize> {
    (from != NOTHING && from >= SEVERAL).then(|| usize::from(from - SEVERAL))
}

/// The best way to part CPU between what there is and one device more.
fn joined(rest: &[f64], device: &[f64]) -> Stage {
    let all = rest.len() - 1;
    let mut stage = Stage { value: vec![0.0; all + 1], from: vec![0; all + 1] };
    // Only CPU with which a device is better than with less of it needs to be tried.
    let better: Vec<usize> = (0..=all).filter(|&used| used == 0 || device[used] > device[used - 1]).collect();
    for used in 0..=all {
        for &here in better.iter().take_while(|&&here| here <= used) {
            let value = rest[used - here] + device[here];
            if value > stage.value[used] {
                stage.value[used] = value;
                stage.from[used] = u16::try_from(here).unwrap_or(0);
            }
        }
    }
    stage
}

/// The best of steps without devices, by CPU.
fn hosted(able: &[usize], classes: &[Class], profit: &[f64], all: usize, cpu: impl Fn(usize) -> usize) -> Stage {
    let mut stage = Stage { value: vec![0.0; all + 1], from: vec![NOTHING; all + 1] };
    for &class in able.iter().filter(|&&class| classes[class].count == 0 && cpu(class) > 0) {
        for used in cpu(class)..=all {
            let value = stage.value[used - cpu(class)] + profit[class];
            if value > stage.value[used] {
                (stage.value[used], stage.from[used]) = (value, u16::try_from(class).unwrap_or(NOTHING));
            }
        }
    }
    stage
}

fn gcd(a: u16, b: u16) -> u16 {
    if b == 0 { a } else { gcd(b, a % b) }
}
