//! The state of all clusters: what exists, what is free, what is held.

mod committing;
mod cutting;
mod holding;
mod observing;
mod snapshot;
mod spending;
mod trying;

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::capacity::Capacity;
use crate::digest::{Digest, Hasher};
use crate::document::{FleetDocument, LimitDocument, MixEntry, NodeState};
use crate::error::Result;
use crate::hold::{Hold, HoldId};
use crate::inventory::{Inventory, Node};
use crate::measured::{Measured, MeasuredTable};
use crate::mix::{Mix, MixDocument, default_mix};
use crate::pairing::Neighbours;
use crate::pool::Pools;
use crate::power::Draws;
use crate::profile::Profiles;
use crate::quota::{Limit, Quotas};
use crate::ranking::Memory;
use crate::reading::Readings;
use crate::state::StateTable;
use crate::units::NodeIdx;
use crate::worth::{Drift, Free, Offer, Scarcity, Worth};

pub use holding::{Holding, Resource, Take};

/// All clusters. Built once, changed by small steps, asked many times.
#[derive(Clone, Debug)]
pub struct Fleet {
    document: FleetDocument,
    profiles: Profiles,
    inventory: Arc<Inventory>,
    capacity: Capacity,
    quotas: Quotas,
    pools: Pools,
    measured: Measured,
    readings: Readings,
    draws: Draws,
    mix: Mix,
    scarcity: Scarcity,
    /// Of each node, as long as it is as the states say; none in a [`Fleet::trial`].
    offers: Vec<Offer>,
    states: StateTable,
    memory: Memory,
    /// Sum over nodes of the digest of name and state: the order of nodes cannot matter.
    digest: u128,
    /// What each hold takes, node by node.
    holds: IndexMap<HoldId, Vec<Hold>>,
    next_hold: u64,
}

impl Fleet {
    /// Builds a fleet from its document and the catalog.
    pub fn new(document: FleetDocument, profiles: Profiles) -> Result<Self> {
        for (i, limit) in document.limits.iter().enumerate() {
            limit.check(&format!("limits[{i}]"))?;
        }
        let (inventory, capacity) = Inventory::build(&document, &profiles)?;
        let pools = Pools::of(&document.clusters, &inventory, &capacity);
        let mix = Mix::new(default_mix(&inventory), &inventory)?;
        let mut fleet = Self {
            document,
            profiles,
            inventory: Arc::new(inventory),
            capacity,
            quotas: Quotas::default(),
            pools,
            measured: Measured::default(),
            readings: Readings::default(),
            draws: Draws::default(),
            mix,
            scarcity: Scarcity::default(),
            offers: Vec::new(),
            states: StateTable::default(),
            memory: Memory::default(),
            digest: 0,
            holds: IndexMap::new(),
            next_hold: 1,
        };
        fleet.rebuild_states();
        Ok(fleet)
    }

    /// The mix that the document states, as written.
    pub fn stated_mix(&self) -> &[MixEntry] {
        &self.document.mix
    }

    /// The names of all pools, each once, in order.
    pub fn pool_names(&self) -> Vec<&str> {
        let pools = self.document.clusters.iter().flat_map(|cluster| &cluster.pools);
        let names: std::collections::BTreeSet<&str> = pools.map(|pool| pool.name.as_str()).collect();
        names.into_iter().collect()
    }

    /// The limits that the document states, as written.
    pub fn stated_limits(&self) -> &[LimitDocument] {
        &self.document.limits
    }

    /// Holds teams to these limits from now on; what is in use counts.
    pub fn set_limits(&mut self, limits: Vec<Limit>) {
        let mut quotas = Quotas::new(limits, &self.inventory);
        let holds = self.inventory.charged_holds.iter().chain(self.holds.values().flatten());
        holds.for_each(|hold| quotas.take(hold, &self.inventory));
        self.quotas = quotas;
    }

    /// Takes speeds from these measurements from now on, where they have them.
    pub fn set_measured(&mut self, table: MeasuredTable) -> Result<()> {
        self.measured = Measured::new(table)?;
        self.memory.clear();
        Ok(())
    }

    /// Measures fragmentation against another mix from now on.
    pub fn set_mix(&mut self, mix: MixDocument) -> Result<()> {
        self.mix = Mix::new(mix, &self.inventory)?;
        self.rebuild_states();
        Ok(())
    }

    /// The same fleet with nothing in use, every node open and every device healthy.
    pub(crate) fn emptied(&self) -> Self {
        let mut empty = self.clone();
        let inventory = Arc::make_mut(&mut empty.inventory);
        inventory.nodes.iter_mut().for_each(|node| node.state = NodeState::Active);
        inventory.devices.iter_mut().for_each(|device| device.is_healthy = true);
        inventory.charged_holds.clear();
        empty.holds.clear();
        empty.readings.clear();
        empty.capacity = empty.inventory.whole_capacity();
        empty.pools.count(&empty.inventory, &empty.capacity);
        empty.set_limits(self.quotas.limits().to_vec());
        empty.rebuild_states();
        empty
    }

    /// The nodes that the steps of a team run on.
    pub(crate) fn nodes_of_team(&self, team: &str) -> impl Iterator<Item = NodeIdx> {
        let holds = self.inventory.charged_holds.iter().chain(self.holds.values().flatten());
        holds.filter(move |hold| hold.team.as_deref() == Some(team)).map(|hold| hold.node)
    }

    fn rebuild_states(&mut self) {
        self.states = StateTable::default();
        self.memory.clear();
        self.draws = Draws::of(&self.inventory, &self.capacity.free_milli, &self.readings);
        self.digest = 0;
        self.offers.clear();
        let mut scarcity = Scarcity::new(&self.mix.demand);
        for node in (0..self.inventory.nodes.len()).map(NodeIdx::new) {
            self.update_state(node);
            self.digest = self.digest.wrapping_add(self.named_digest(node));
            let offer = self.offer_now(node);
            if self.node(node).state == NodeState::Active {
                scarcity.add(&offer);
            }
            self.offers.push(offer);
        }
        scarcity.settle(&self.mix.demand);
        self.scarcity = scarcity;
    }

    /// Takes a node out of all sums; [`Fleet::node_changed`] puts it back as it then is.
    fn node_changes(&mut self, node: NodeIdx) {
        for near in self.in_rack(node) {
            self.digest = self.digest.wrapping_sub(self.named_digest(near));
        }
        if self.node(node).state == NodeState::Active {
            self.scarcity.remove(&self.offers[node.at()]);
        }
    }

    fn node_changed(&mut self, node: NodeIdx) {
        self.draws.update(&self.inventory, &self.capacity.free_milli, &self.readings, node);
        for near in self.in_rack(node) {
            self.update_state(near);
            self.digest = self.digest.wrapping_add(self.named_digest(near));
        }
        self.offers[node.at()] = self.offer_now(node);
        if self.node(node).state == NodeState::Active {
            self.scarcity.add(&self.offers[node.at()]);
        }
        self.scarcity.settle(&self.mix.demand);
    }

    /// The nodes whose state changes with that of a node: those that share a power budget with it, and itself.
    fn in_rack(&self, node: NodeIdx) -> Vec<NodeIdx> {
        self.node(node).rack.map_or_else(|| vec![node], |rack| self.inventory.racks[rack].nodes.clone())
    }

    fn update_state(&mut self, at: NodeIdx) {
        let node = &self.inventory.nodes[at.at()];
        let free = &self.capacity.free_milli[node.devices.clone()];
        let cpu = self.capacity.free_cpu_milli[at.at()];
        let mut hasher = Hasher::new("state").bytes(&node.digest);
        for &milli in free {
            hasher = hasher.number(u64::from(milli));
        }
        let mut hasher = hasher.maybe(cpu).maybe(self.capacity.free_memory_mib[at.at()]);
        if let Some(rack) = node.rack {
            let budget = self.inventory.racks[rack].power_budget_mw;
            hasher = hasher.text("rack").number(budget).maybe(self.draws.of_rack(rack));
        }
        for (offset, device) in node.devices.clone().enumerate() {
            let (asked, is_full) = (self.capacity.asked(device), self.capacity.is_full(device));
            if asked.milli > 0 || is_full {
                hasher = hasher.text("memory").number(offset as u64).number(u64::from(is_full));
                hasher = hasher.number(asked.mib).number(u64::from(asked.milli));
            }
            let beside = self.capacity.neighbours(device);
            if beside != Neighbours::default() {
                hasher = hasher.text("bound").number(offset as u64);
                hasher = hasher.number(u64::from(beside.compute_milli)).number(u64::from(beside.memory_milli));
            }
        }
        let read = node.devices.clone().enumerate().filter(|_| !self.readings.is_empty());
        for (offset, device) in read {
            if let Some(kept) = self.readings.get(&device).filter(|kept| kept.free_milli == free[offset]) {
                hasher = hasher.text("reading").number(offset as u64).maybe(kept.reading.power_mw);
            }
        }
        let state = hasher.finish();
        self.states.set(at, state);
    }

    fn named_digest(&self, at: NodeIdx) -> u128 {
        let node = self.node(at);
        let names = Hasher::new("named").text(&node.cluster).text(&node.name).bytes(&node.names_digest);
        let hasher = names.bytes(&self.states.digest(at));
        u128::from_be_bytes(hasher.finish())
    }

    /// Digest of everything in the fleet that a decision may depend on, the mix apart.
    pub fn digest(&self) -> Digest {
        self.digest.to_be_bytes()
    }

    /// The catalog in use.
    pub fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// The static part.
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// What is free.
    pub fn capacity(&self) -> &Capacity {
        &self.capacity
    }

    /// The limits of teams, and what they use.
    pub fn quotas(&self) -> &Quotas {
        &self.quotas
    }

    /// The pools that share clusters, and what is charged to them.
    pub fn pools(&self) -> &Pools {
        &self.pools
    }

    /// What was measured.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    pub(crate) fn kept_readings(&self) -> &Readings {
        &self.readings
    }

    pub(crate) fn draws(&self) -> &Draws {
        &self.draws
    }

    /// The mix in use.
    pub fn mix(&self) -> &Mix {
        &self.mix
    }

    /// Which node is in which state.
    pub fn states(&self) -> &StateTable {
        &self.states
    }

    /// A node.
    pub fn node(&self, at: NodeIdx) -> &Node {
        &self.inventory.nodes[at.at()]
    }

    /// Free shares of a node's devices.
    pub fn free_milli(&self, at: NodeIdx) -> &[u16] {
        &self.capacity.free_milli[self.node(at).devices.clone()]
    }

    /// What is remembered between decisions.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// How far scarcity has moved so far.
    pub(crate) fn drift(&self) -> &Drift {
        self.scarcity.drift()
    }

    /// What a node offers to the mix.
    pub(crate) fn offer(&self, at: NodeIdx) -> Cow<'_, Offer> {
        self.offers.get(at.at()).map_or_else(|| Cow::Owned(self.offer_now(at)), Cow::Borrowed)
    }

    fn offer_now(&self, at: NodeIdx) -> Offer {
        let free = Free::new(self.node(at), self.free_milli(at), self.capacity.free_cpu_milli[at.at()]);
        Offer::new(free, &self.mix.demand)
    }

    /// How much less a node is worth to the mix once it offers no more than `after`, of which only what is free was told.
    pub(crate) fn lost(&self, before: &Offer, after: &mut Offer) -> Worth {
        after.find(&self.mix.demand);
        before.less(after, &self.mix.demand, &self.scarcity)
    }
}
