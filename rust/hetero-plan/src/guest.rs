//! A policy from outside: it is shown the nodes where a task fits and names one; what it answers is checked.

use std::fmt::Debug;
use std::sync::Arc;

use hetero_core::capacity::Capacity;
use hetero_core::hold::Hold;
use hetero_core::units::NodeIdx;
use hetero_core::{Error, Result};

use crate::device;
use crate::generator::{Generator, Purpose};
use crate::occupancy::{Occupancy, Taken};
use crate::world::World;

/// Chooses among candidates.
pub trait Foreign: Debug + Send + Sync {
    /// Where the task goes; `None` to refuse it. Is not asked when it fits nowhere.
    fn choose(&self, asked: Asked) -> Result<Option<Answer>>;
}

/// A task, and where it fits.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What the task asks for.
    pub task: AskedTask,
    /// Nodes where it fits now. The seed of the run shuffles nodes once; they come in this order.
    pub candidates: Arc<[Candidate]>,
    /// Free capacity when the task was shown; it does not change any more.
    pub free: Arc<Capacity>,
}

/// What a task asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedTask {
    /// Devices; 0 for none.
    pub count: u32,
    /// Share of each device, thousandths.
    pub share_milli: u16,
    /// CPU, thousandths of a core.
    pub cpu_milli: u64,
    /// Host memory, MiB.
    pub memory_mib: u64,
}

/// A node where a task fits.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What never changes of it.
    pub facts: Arc<NodeFacts>,
    /// Devices that the task may take, by their positions in the columns of what is free.
    pub usable: Vec<usize>,
}

/// What never changes of a node.
#[derive(Clone, Debug)]
pub struct NodeFacts {
    /// Its place in the columns.
    pub node: NodeIdx,
    /// Name.
    pub name: String,
    /// Cluster.
    pub cluster: String,
    /// First of its devices in the columns of what is free.
    pub first: usize,
    /// Per device: its id, and its model where known.
    pub devices: Vec<(u32, Option<String>)>,
    /// CPU in all, where known.
    pub cpu_milli: Option<u64>,
}

/// What a policy from outside chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The node by its name.
    pub node: String,
    /// The cluster, where the name alone may mean several.
    pub cluster: Option<String>,
    /// Ids of the devices; `None` for the first that are usable, for a share the fullest.
    pub devices: Option<Vec<u32>>,
}

/// One run of a policy from outside.
pub(crate) struct Guest<'a> {
    world: &'a World,
    name: String,
    foreign: Arc<dyn Foreign>,
    capacity: Capacity,
    /// In the order in which they are shown.
    facts: Vec<Arc<NodeFacts>>,
}

impl<'a> Guest<'a> {
    pub(crate) fn new(world: &'a World, name: &str, foreign: Arc<dyn Foreign>, seed: u64) -> Self {
        let inventory = world.fleet.inventory();
        let mut order: Vec<NodeIdx> = (0..inventory.nodes.len()).map(NodeIdx::new).collect();
        Generator::new(seed, Purpose::Ties).shuffle(&mut order);
        let facts = |node: NodeIdx| {
            let here = world.fleet.node(node);
            let device = |at: usize| {
                let device = &inventory.devices[at];
                (device.id, inventory.kinds[device.kind.at()].model.clone())
            };
            Arc::new(NodeFacts {
                node,
                name: here.name.clone(),
                cluster: here.cluster.clone(),
                first: here.devices.start,
                devices: here.devices.clone().map(device).collect(),
                cpu_milli: here.cpu_milli,
            })
        };
        let capacity = world.fleet.capacity().clone();
        Self { world, name: name.to_owned(), foreign, capacity, facts: order.into_iter().map(facts).collect() }
    }

    fn choose(&self, class: usize) -> Result<Option<Hold>> {
        let candidates: Arc<[Candidate]> = self.facts.iter().filter_map(|facts| self.candidate(class, facts)).collect();
        if candidates.is_empty() {
            return Ok(None);
        }
        let choice = &self.world.classes[class].choice;
        let task = AskedTask {
            count: choice.count,
            share_milli: choice.share_milli,
            cpu_milli: choice.cpu_milli,
            memory_mib: choice.host_memory_mib,
        };
        let asked = Asked { task, candidates: Arc::clone(&candidates), free: Arc::new(self.capacity.clone()) };
        let Some(answer) = self.foreign.choose(asked)? else { return Ok(None) };
        let is_meant = |candidate: &&Candidate| {
            let facts = &candidate.facts;
            facts.name == answer.node && answer.cluster.as_ref().is_none_or(|cluster| *cluster == facts.cluster)
        };
        let wrong = |what: String| {
            let task = format!("a task of {} devices, {} thousandths of each", choice.count, choice.share_milli);
            Error::InvalidRequest { message: format!("policy {}: for {task}, it answered {what}", self.name) }
        };
        let chosen = candidates.iter().find(is_meant).ok_or_else(|| {
            wrong(format!("node {:?}, which is no candidate; answer with one of the candidates, or None", answer.node))
        })?;
        let devices = self.devices(class, chosen, answer.devices.as_deref()).map_err(wrong)?;
        Ok(Some(self.world.hold(class, chosen.facts.node, devices)))
    }

    fn candidate(&self, class: usize, facts: &Arc<NodeFacts>) -> Option<Candidate> {
        let (world, at) = (self.world, facts.node);
        let fit = world.fit(&self.capacity, at, &world.classes[class])?;
        let (node, mut usable) = (world.fleet.node(at), Vec::new());
        let milli = &self.capacity.free_milli[node.devices.clone()];
        device::usable(world.fleet.inventory(), node, &fit, milli, world.classes[class].ask, &mut usable);
        let usable = usable.into_iter().map(|device| device + facts.first).collect();
        Some(Candidate { facts: Arc::clone(facts), usable })
    }

    /// Positions of the devices that were answered, or what is wrong with them.
    fn devices(&self, class: usize, on: &Candidate, ids: Option<&[u32]>) -> std::result::Result<Vec<usize>, String> {
        let Some(ids) = ids else { return Ok(self.world.first_devices(&self.capacity, class, on.facts.node)) };
        let count = self.world.classes[class].ask.count as usize;
        let mut devices = Vec::new();
        for &id in ids {
            let at = on.usable.iter().copied().find(|&at| on.facts.devices[at - on.facts.first].0 == id);
            match at {
                Some(at) if !devices.contains(&at) => devices.push(at),
                Some(_) => return Err(format!("device {id} of {} twice; name each once", on.facts.name)),
                None => {
                    return Err(format!("device {id} of {}, which is not usable; name usable ones", on.facts.name));
                }
            }
        }
        if devices.len() != count {
            return Err(format!("{} devices of {}; name {count}, or none to take the first", ids.len(), on.facts.name));
        }
        Ok(devices)
    }
}

impl Occupancy for Guest<'_> {
    fn start(&mut self, class: usize) -> Result<Option<Taken>> {
        let Some(hold) = self.choose(class)? else { return Ok(None) };
        self.take(Some(class), hold).map(Some)
    }

    fn take(&mut self, class: Option<usize>, hold: Hold) -> Result<Taken> {
        self.capacity.take(&hold).expect("there is as much");
        self.capacity.settle();
        Ok(Taken { hold, class, id: None })
    }

    fn give(&mut self, taken: Taken) -> Result<()> {
        self.capacity.give(&taken.hold).expect("what was taken can be given back");
        self.capacity.settle();
        Ok(())
    }

    fn capacity(&self) -> &Capacity {
        &self.capacity
    }
}
