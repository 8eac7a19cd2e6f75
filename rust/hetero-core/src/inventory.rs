//! From the document to the static part of a fleet: nodes in order of their names, devices in dense columns.

mod cluster;
mod cuts;
mod group;
mod named;
mod rack;
mod refit;

use std::ops::Range;

use indexmap::{IndexMap, IndexSet};

use crate::capacity::Capacity;
use crate::device::Device;
use crate::digest::{Digest, Hasher};
use crate::document::{FleetDocument, Health, NodeState, Taint};
use crate::domain::{self, Domains};
use crate::error::{Error, Result};
use crate::hold::Hold;
use crate::islands;
use crate::kind::Kind;
use crate::profile::Profiles;
use crate::site::Site;
use crate::units::{KindIdx, NodeIdx, WHOLE_MILLI};
use crate::victims::{Parties, PartySite};

pub use cluster::Cluster;
pub(crate) use cluster::{USUAL_WEIGHT_MILLI, weight_milli};
use cuts::may_be_cut;
use group::{group_ids, is_near_nic, numa, switch};
use named::{NamedNode, check_name, named_nodes};
pub use rack::Rack;

/// A run of devices that lie together in the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Their kind.
    pub kind: KindIdx,
    /// Their positions in the device columns.
    pub devices: Range<usize>,
}

/// A node as it does not change while steps come and go.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its cluster.
    pub cluster: String,
    /// Its name.
    pub name: String,
    /// Its name where no other cluster has it, else with the cluster.
    pub label: String,
    /// Its pool.
    pub pool: Option<String>,
    /// Places of its cluster, and of it there, in the document.
    pub place: (usize, usize),
    /// Positions of its devices in the device columns, ordered by kind, island and id.
    pub devices: Range<usize>,
    /// Runs of one kind.
    pub kinds: Vec<Run>,
    /// Runs of one kind and island; devices in no island are left out.
    pub islands: Vec<Run>,
    /// Whether it takes work.
    pub state: NodeState,
    /// Taints that keep steps away unless tolerated.
    pub taints: Vec<Taint>,
    /// All its CPU.
    pub cpu_milli: Option<u64>,
    /// All its host memory.
    pub memory_mib: Option<u64>,
    /// Where it stands, and what it offers beside its devices.
    pub site: Site,
    /// What it shares with other nodes.
    pub domains: Domains,
    /// Power that it may draw.
    pub power_budget_mw: Option<u64>,
    /// Its rack, where that has a power budget.
    pub rack: Option<usize>,
    /// Of everything a decision may depend on, but names.
    pub digest: Digest,
    /// Of the names of its devices, and of its place.
    pub names_digest: Digest,
}

impl Node {
    /// Whether what its devices draw is bounded, by its own budget or that of its rack.
    pub fn is_under_budget(&self) -> bool {
        self.power_budget_mw.is_some() || self.rack.is_some()
    }
}

/// The static part of a fleet, and the capacity that is free at the start.
#[derive(Clone, Debug)]
pub struct Inventory {
    /// Kinds of device.
    pub kinds: Vec<Kind>,
    /// Nodes by cluster and name.
    pub nodes: Vec<Node>,
    /// Clusters by name.
    pub clusters: Vec<Cluster>,
    /// Whether weights of clusters differ, or prices are stated.
    pub has_preferences: bool,
    /// Racks with a power budget.
    pub racks: Vec<Rack>,
    /// Device columns.
    pub devices: Vec<Device>,
    /// Kinds of device that pools let be cut, with the kind of each partition of their profile.
    pub cuts: IndexMap<KindIdx, Vec<KindIdx>>,
    /// What is in use from the start and counts for a team or a pool.
    pub charged_holds: Vec<Hold>,
    /// What of that may be preempted.
    parties: Parties,
}

impl Inventory {
    /// Builds the columns. Nodes named twice, devices in two islands and use of absent devices are errors.
    pub fn build(document: &FleetDocument, profiles: &Profiles) -> Result<(Self, Capacity)> {
        let mut sorted = named_nodes(document)?;
        sorted.sort_by(|a, b| (&a.cluster.name, &a.document.name).cmp(&(&b.cluster.name, &b.document.name)));
        let mut kinds = collect_kinds(&sorted, profiles)?;
        kinds.sort_keys(); // indices follow the digests, whatever the order in the document
        let mut inventory = Self {
            kinds: kinds.into_values().collect(),
            nodes: Vec::new(),
            clusters: Vec::new(),
            has_preferences: false,
            racks: Vec::new(),
            devices: Vec::new(),
            cuts: IndexMap::new(),
            charged_holds: Vec::new(),
            parties: Parties::default(),
        };
        inventory.add_cuts(&sorted, profiles)?;
        for node in &sorted {
            inventory.add_node(node, profiles)?;
        }
        domain::assign(&mut inventory.nodes);
        inventory.clusters = cluster::clusters(document, &inventory.nodes)?;
        let is_priced = inventory.nodes.iter().any(|node| !node.site.prices_milli.is_empty());
        let weights = || inventory.clusters.iter().map(|cluster| cluster.weight_milli);
        inventory.has_preferences = is_priced || weights().min() != weights().max();
        inventory.add_racks(document)?;
        let capacity = inventory.free_capacity(&sorted)?;
        let made_at = document.generated.as_ref().map(|generated| generated.at.as_str());
        let sites = sorted.iter().map(|named| PartySite {
            cluster: &named.cluster.name,
            document: named.document,
            notice_s: named.cluster.notice_s.or(document.notice_s),
        });
        inventory.parties = Parties::of(&inventory, sites, made_at);
        Ok((inventory, capacity))
    }

    fn add_node(&mut self, named: &NamedNode<'_>, profiles: &Profiles) -> Result<()> {
        let node = self.placed_node(named, profiles)?;
        self.nodes.push(node);
        Ok(())
    }

    /// A node whose devices are put at the end of the columns.
    fn placed_node(&mut self, named: &NamedNode<'_>, profiles: &Profiles) -> Result<Node> {
        let mut devices = self.expand_devices(named, profiles)?;
        islands::assign(named.document, &named.path, &self.kinds, &mut devices)?;
        devices.sort_by_key(|device| (device.kind, device.island, device.id));
        let first = self.devices.len();
        self.devices.append(&mut devices);
        let range = first..self.devices.len();
        let document = named.document;
        let mut node = Node {
            cluster: named.cluster.name.clone(),
            name: document.name.clone(),
            label: named.label(),
            pool: document.pool.clone(),
            place: named.place,
            kinds: self.runs(range.clone(), |d| Some((d.kind, None))),
            islands: self.runs(range.clone(), |d| d.island.map(|island| (d.kind, Some(island)))),
            devices: range,
            state: document.state.unwrap_or_default(),
            taints: document.taints.iter().filter(|t| t.effect != "PreferNoSchedule").cloned().collect(),
            cpu_milli: document.cpu_milli,
            memory_mib: document.memory_mib,
            site: Site::of(named.cluster, &named.cluster_path, document)?,
            domains: Domains::default(),
            power_budget_mw: document.power_budget_mw,
            rack: None,
            digest: Digest::default(),
            names_digest: Digest::default(),
        };
        node.names_digest = self.names_digest(&node);
        node.digest = self.node_digest(&node);
        Ok(node)
    }

    fn expand_devices(&self, named: &NamedNode<'_>, profiles: &Profiles) -> Result<Vec<Device>> {
        let mut devices: Vec<Device> = Vec::new();
        let mut ids = IndexSet::new();
        let is_open = named.may_be_cut();
        for (g, group) in named.document.devices.iter().enumerate() {
            let path = format!("{}.devices[{g}]", named.path);
            let kind = self.kind_index(&named.kind_of(group, &path, profiles)?);
            for (i, id) in group_ids(group, devices.len(), &path)?.enumerate() {
                if !ids.insert(id) {
                    let message = format!("device id {id} is given twice; ids count through all groups of a node");
                    return Err(Error::document(path, message));
                }
                let is_partition = self.kinds[kind.at()].partition.is_some();
                let card = group.pci.as_ref().filter(|_| is_partition);
                let is_there =
                    |pci: &String| named.document.devices[..g].iter().position(|g| g.pci.as_ref() == Some(pci));
                devices.push(Device {
                    id,
                    kind,
                    group: g,
                    island: None,
                    numa: numa(group, i),
                    switch: switch(group, i),
                    is_near_nic: is_near_nic(group, i),
                    card: card.map(|pci| is_there(pci).unwrap_or(g)).and_then(|first| u32::try_from(first).ok()),
                    is_healthy: group.health.unwrap_or_default() == Health::Healthy,
                    may_be_cut: is_open && may_be_cut(group, &self.kinds[kind.at()]),
                    uuid: group.uuid.clone(),
                });
            }
        }
        Ok(devices)
    }

    fn kind_index(&self, kind: &Kind) -> KindIdx {
        let at = self.kinds.binary_search_by_key(&kind.digest, |known| known.digest);
        KindIdx::new(at.expect("kinds were collected from the same document"))
    }

    /// Neighbouring devices with the same key; those without a key are left out.
    fn runs(&self, range: Range<usize>, key: impl Fn(&Device) -> Option<(KindIdx, Option<u16>)>) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut last = None;
        for at in range {
            let this = key(&self.devices[at]);
            match (this, runs.last_mut()) {
                (None, _) => {}
                (Some(_), Some(run)) if this == last => run.devices.end = at + 1,
                (Some((kind, _)), _) => runs.push(Run { kind, devices: at..at + 1 }),
            }
            last = this;
        }
        runs
    }

    fn node_digest(&self, node: &Node) -> Digest {
        let mut hasher = Hasher::new("node")
            .number(node.state as u64)
            .maybe(node.cpu_milli)
            .maybe(node.memory_mib)
            .maybe(node.power_budget_mw)
            .number(node.taints.len() as u64);
        for taint in &node.taints {
            hasher = hasher.text(&taint.key).text(&taint.effect);
        }
        hasher = node.site.digested(hasher);
        for device in &self.devices[node.devices.clone()] {
            hasher = hasher
                .number(u64::from(device.id))
                .bytes(&self.kinds[device.kind.at()].digest)
                .maybe(device.island.map(u64::from))
                .maybe(device.numa.map(u64::from))
                .number(u64::from(device.is_healthy));
            if device.switch.is_some() || device.card.is_some() {
                hasher = hasher.text("near").maybe(device.switch.map(u64::from)).maybe(device.card.map(u64::from));
            }
            if device.is_near_nic {
                hasher = hasher.text("nic");
            }
            if device.may_be_cut {
                hasher = hasher.text("cut");
            }
        }
        hasher.finish()
    }

    fn names_digest(&self, node: &Node) -> Digest {
        let devices = self.devices[node.devices.clone()].iter();
        let named = Hasher::new("names").number(devices.len() as u64);
        let named = devices.fold(named, |hasher, device| hasher.text(device.uuid.as_deref().unwrap_or("")));
        node.site.placed(named).finish()
    }

    /// What is free when nothing is in use.
    pub(crate) fn whole_capacity(&self) -> Capacity {
        let free = self.devices.iter().map(|device| if device.is_healthy { WHOLE_MILLI } else { 0 }).collect();
        let cpu = self.nodes.iter().map(|node| node.cpu_milli).collect();
        let memory = self.nodes.iter().map(|node| node.memory_mib).collect();
        let usable = self.devices.iter().map(|device| self.kinds[device.kind.at()].usable_mib).collect();
        Capacity::new(free, usable, cpu, memory)
    }

    fn free_capacity(&mut self, sorted: &[NamedNode<'_>]) -> Result<Capacity> {
        let mut capacity = self.whole_capacity();
        for (n, named) in sorted.iter().enumerate() {
            self.take_used(NodeIdx::new(n), named, &mut capacity)?;
        }
        capacity.settle();
        Ok(capacity)
    }

    fn take_used(&mut self, at: NodeIdx, named: &NamedNode<'_>, capacity: &mut Capacity) -> Result<()> {
        for (u, used) in named.document.used.iter().enumerate() {
            let path = format!("{}.used[{u}]", named.path);
            let share_milli = used.share_milli.unwrap_or(WHOLE_MILLI);
            let mut devices = Vec::new();
            for id in &used.devices {
                let found = self.find_device(at, *id).ok_or_else(|| {
                    Error::document(&path, format!("{} uses device {id}, which the node does not have", used.owner))
                })?;
                if self.devices[found].is_healthy {
                    devices.push(found); // an unhealthy device has nothing free to take from
                }
            }
            // Hosts may be overcommitted, and what is unknown cannot be counted; devices may not.
            let cpu_milli = used.cpu_milli.unwrap_or(0).min(capacity.free_cpu_milli[at.at()].unwrap_or(0));
            let memory_mib = used.memory_mib.unwrap_or(0).min(capacity.free_memory_mib[at.at()].unwrap_or(0));
            let team = used.team.clone();
            let share_memory_mib = used.device_memory_mib;
            let pool = named.charged(used, &path)?;
            let (node, bound) = (at, used.bound);
            let hold = Hold { node, devices, share_milli, share_memory_mib, bound, cpu_milli, memory_mib, team, pool };
            capacity.take(&hold).map_err(|_| {
                let message =
                    format!("{} uses more of a device than is left of it (1000 thousandths in all)", used.owner);
                Error::document(&path, message)
            })?;
            if hold.team.is_some() || hold.pool.is_some() {
                self.charged_holds.push(hold);
            }
        }
        Ok(())
    }

    /// What is in use and may be preempted.
    pub fn parties(&self) -> &Parties {
        &self.parties
    }

    /// Position of a device of a node in the columns.
    pub fn find_device(&self, node: NodeIdx, id: u32) -> Option<usize> {
        self.nodes[node.at()].devices.clone().find(|&at| self.devices[at].id == id)
    }

    /// The node of this name.
    pub fn find_node(&self, cluster: &str, name: &str) -> Option<NodeIdx> {
        let key = |node: &Node| (node.cluster.as_str(), node.name.as_str()).cmp(&(cluster, name));
        self.nodes.binary_search_by(key).ok().map(NodeIdx::new)
    }
}

fn collect_kinds(nodes: &[NamedNode<'_>], profiles: &Profiles) -> Result<IndexMap<Digest, Kind>> {
    let mut kinds = IndexMap::new();
    for node in nodes {
        for (g, group) in node.document.devices.iter().enumerate() {
            let path = format!("{}.devices[{g}]", node.path);
            let kind = node.kind_of(group, &path, profiles)?;
            for part in cuts::kinds_of_parts(node, group, &kind, &path, profiles)? {
                kinds.insert(part.digest, part);
            }
            kinds.insert(kind.digest, kind);
        }
    }
    Ok(kinds)
}
