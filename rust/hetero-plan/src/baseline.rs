//! The published policies: every node where the task fits gets a whole number, the first of the highest wins.
//!
//! Which is first says one shuffle of the nodes per run. A node is scored again for a class of tasks only after something
//! was placed on it.

use hetero_core::Result;
use hetero_core::capacity::Capacity;
use hetero_core::hold::Hold;
use hetero_core::units::NodeIdx;

use crate::device;
use crate::fgd;
use crate::generator::{Generator, Purpose};
use crate::occupancy::{Occupancy, Taken};
use crate::policy::Policy;
use crate::score::{Free, score};
use crate::world::World;

/// The score of a node for a class, as it was at a version of the node; `None` where the task did not fit.
#[derive(Clone, Copy, Debug)]
struct Known {
    version: u32,
    score: Option<i64>,
}

/// No node has this version.
const NEVER: Known = Known { version: u32::MAX, score: None };

/// One run of a published policy.
pub(crate) struct Baseline<'a> {
    world: &'a World,
    policy: Policy,
    capacity: Capacity,
    /// Nodes in the order in which they win ties; what follows is kept in this order.
    order: Vec<NodeIdx>,
    /// Per node: its place in that order.
    places: Vec<usize>,
    versions: Vec<u32>,
    /// Groups of the tasks that run there, one entry a task.
    groups: Vec<Vec<u32>>,
    unusable: Vec<u64>,
    /// Per class.
    known: Vec<Vec<Known>>,
    usable: Vec<usize>,
    choices: Generator,
}

impl<'a> Baseline<'a> {
    pub(crate) fn new(world: &'a World, policy: Policy, seed: u64) -> Self {
        let capacity = world.fleet.capacity().clone();
        let mut order: Vec<NodeIdx> = (0..world.fleet.inventory().nodes.len()).map(NodeIdx::new).collect();
        Generator::new(seed, Purpose::Ties).shuffle(&mut order);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, node)| places[node.at()] = place);
        let unusable = order.iter().map(|&at| world.unusable(&capacity, at)).collect();
        Self {
            world,
            policy,
            versions: vec![0; order.len()],
            groups: vec![Vec::new(); order.len()],
            known: vec![vec![NEVER; order.len()]; world.classes.len()],
            usable: Vec::new(),
            choices: Generator::new(seed, Purpose::Choice),
            capacity,
            order,
            places,
            unusable,
        }
    }

    /// The winner by its place in the order.
    fn choose(&mut self, class: usize) -> Option<usize> {
        let mut best: Option<(i64, usize)> = None;
        let mut fitting = 0;
        for place in 0..self.order.len() {
            if self.known[class][place].version != self.versions[place] {
                self.known[class][place] = Known { version: self.versions[place], score: self.evaluate(class, place) };
            }
            let Some(score) = self.known[class][place].score else { continue };
            fitting += 1;
            if best.is_none_or(|(best, _)| score > best) {
                best = Some((score, place));
            }
        }
        if self.policy == Policy::Random && fitting > 0 {
            let drawn = self.choices.below(fitting);
            let fits = |place: &usize| self.known[class][*place].score.is_some();
            return (0..self.order.len()).filter(fits).nth(drawn);
        }
        best.map(|(_, place)| place)
    }

    fn evaluate(&mut self, class: usize, place: usize) -> Option<i64> {
        self.find_usable(class, place)?;
        let ask = self.world.classes[class].ask;
        let free = self.free(place);
        if self.policy == Policy::Fgd {
            let (node, mix) = (self.world.fleet.node(self.order[place]), self.world.fleet.mix());
            return Some(fgd::best(node, mix, ask, &free, self.unusable[place]).0);
        }
        Some(score(self.policy, ask, &free))
    }

    /// Finds the devices that a task may take on a node; `None` where it does not fit.
    fn find_usable(&mut self, class: usize, place: usize) -> Option<()> {
        let (world, at) = (self.world, self.order[place]);
        let fit = world.fit(&self.capacity, at, &world.classes[class])?;
        let node = world.fleet.node(at);
        let milli = &self.capacity.free_milli[node.devices.clone()];
        device::usable(world.fleet.inventory(), node, &fit, milli, world.classes[class].ask, &mut self.usable);
        Some(())
    }

    fn free(&self, place: usize) -> Free<'_> {
        let at = self.order[place];
        Free {
            milli: &self.capacity.free_milli[self.world.fleet.node(at).devices.clone()],
            usable: &self.usable,
            cpu_milli: self.capacity.free_cpu_milli[at.at()].unwrap_or(0),
            groups: &self.groups[place],
        }
    }

    fn devices(&mut self, class: usize, place: usize) -> Vec<usize> {
        self.find_usable(class, place).expect("the task fits there");
        let ask = self.world.classes[class].ask;
        let node = self.world.fleet.node(self.order[place]);
        let milli = &self.capacity.free_milli[node.devices.clone()];
        let chosen = match self.policy {
            Policy::Random => device::any(&self.usable, ask, &mut self.choices),
            Policy::Fgd => {
                let (mix, free) = (self.world.fleet.mix(), self.free(place));
                let device = fgd::best(node, mix, ask, &free, self.unusable[place]).1;
                device.map_or_else(|| device::first(&self.usable, ask), |at| vec![at])
            }
            Policy::WorstFit => device::emptiest(milli, &self.usable, ask),
            _ => device::tightest(milli, &self.usable, ask),
        };
        chosen.into_iter().map(|at| at + node.devices.start).collect()
    }

    fn hold(&mut self, class: usize, place: usize) -> Hold {
        let devices = self.devices(class, place);
        self.world.hold(class, self.order[place], devices)
    }

    fn occupy(&mut self, class: Option<usize>, hold: &Hold) {
        self.capacity.take(hold).expect("there is as much");
        let place = self.changed(hold);
        if let Some(group) = class.and_then(|class| self.world.classes[class].ask.group()) {
            self.groups[place].push(group);
        }
    }

    /// Notes that what is free on a node is not what it was; returns the node's place in the order.
    fn changed(&mut self, hold: &Hold) -> usize {
        self.capacity.settle();
        let place = self.places[hold.node.at()];
        self.versions[place] += 1;
        self.unusable[place] = self.world.unusable(&self.capacity, hold.node);
        place
    }
}

impl Occupancy for Baseline<'_> {
    fn start(&mut self, class: usize) -> Result<Option<Taken>> {
        let Some(place) = self.choose(class) else { return Ok(None) };
        let hold = self.hold(class, place);
        self.take(Some(class), hold).map(Some)
    }

    fn take(&mut self, class: Option<usize>, hold: Hold) -> Result<Taken> {
        self.occupy(class, &hold);
        Ok(Taken { hold, class, id: None })
    }

    fn give(&mut self, taken: Taken) -> Result<()> {
        self.capacity.give(&taken.hold).expect("what was taken can be given back");
        let place = self.changed(&taken.hold);
        let group = taken.class.and_then(|class| self.world.classes[class].ask.group());
        if let Some(at) = self.groups[place].iter().position(|&other| Some(other) == group) {
            self.groups[place].swap_remove(at);
        }
        Ok(())
    }

    fn capacity(&self) -> &Capacity {
        &self.capacity
    }
}
