//! What a durable reservation has of the fleet, by names: so that another process can take the same, and a store can refuse
//! what would be too much.

use serde::Serialize;

use super::Fleet;
use crate::decision::Placement;
use crate::error::Result;
use crate::hold::{Hold, HoldId, NamedHold};
use crate::units::WHOLE_MILLI;

/// Everything of which a reservation takes a countable part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Share of a device, thousandths.
    Device,
    /// Memory of a device, thousandths of a MiB; of shares only, since a whole device leaves none.
    DeviceMemory,
    /// CPU of a node, thousandths of a core.
    Cpu,
    /// Host memory of a node, MiB.
    HostMemory,
    /// Quota of a team, millionths of a device or of a compute unit.
    Quota,
}

/// How much of one thing a reservation takes, and how much all reservations together may have of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Take {
    /// Of what.
    pub resource: Resource,
    /// Cluster; empty for a quota.
    pub cluster: String,
    /// Node; the team of a quota.
    pub node: String,
    /// Device id; empty for what the node has itself; level and name of a quota.
    pub item: String,
    /// How much.
    pub amount: u64,
    /// What the document leaves to reservations.
    pub most: u64,
}

/// A placement as a reservation keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holding {
    /// What it holds, node by node.
    pub holds: Vec<NamedHold>,
    /// What it takes, in order, each thing once.
    pub takes: Vec<Take>,
}

impl Fleet {
    /// What a placement would hold. Refused when what it names changed since, as a commit is. Changes nothing.
    pub fn holding(&self, placement: &Placement) -> Result<Holding> {
        let holds = self.holds_for(placement)?;
        let mut takes: Vec<Take> = holds.iter().flat_map(|hold| self.takes_of(hold)).collect();
        takes.extend(placement.team.iter().flat_map(|team| self.takes_of_team(team, &holds)));
        takes.sort_by(|a, b| a.order().cmp(&b.order()));
        takes.dedup_by(|next, take| {
            let is_same = next.order() == take.order();
            if is_same {
                // One limit stated twice is two limits of one thing; of devices and nodes each hold takes its own part.
                take.amount = if take.resource == Resource::Quota { take.amount } else { take.amount + next.amount };
                take.most = take.most.min(next.most);
            }
            is_same
        });
        Ok(Holding { holds: holds.iter().map(|hold| self.named_hold(hold)).collect(), takes })
    }

    /// Takes what a reservation made elsewhere holds, as far as it is there: what this fleet does not know, or knows to be in
    /// use, is nobody's to give.
    pub fn occupy(&mut self, named: &[NamedHold]) -> Result<HoldId> {
        let start = self.capacity.checkpoint();
        let mut holds = Vec::new();
        for named in named {
            let parts = self.parts_there(named);
            holds.extend(parts.into_iter().filter(|part| self.capacity.take(part).is_ok()));
        }
        self.capacity.rollback(start);
        self.take_next(holds)
    }

    /// A hold by names.
    pub(super) fn named_hold(&self, hold: &Hold) -> NamedHold {
        let node = self.node(hold.node);
        NamedHold {
            cluster: node.cluster.clone(),
            node: node.name.clone(),
            devices: hold.devices.iter().map(|&at| self.inventory.devices[at].id).collect(),
            share_milli: hold.share_milli,
            share_memory_mib: hold.share_memory_mib,
            bound: hold.bound,
            cpu_milli: hold.cpu_milli,
            memory_mib: hold.memory_mib,
            team: hold.team.clone(),
            pool: hold.pool.and_then(|pool| self.pools.name(node, pool)).map(str::to_owned),
        }
    }

    /// The hold that these names mean; `None` where something of it is not there.
    pub(super) fn find_hold(&self, named: &NamedHold) -> Option<Hold> {
        let node = self.inventory.find_node(&named.cluster, &named.node)?;
        let devices = named.devices.iter().map(|&id| self.inventory.find_device(node, id)).collect::<Option<_>>()?;
        let NamedHold { share_milli, share_memory_mib, bound, cpu_milli, memory_mib, .. } = *named;
        let (team, pool) = (named.team.clone(), self.pool_named(node, named.pool.as_ref()));
        Some(Hold { node, devices, share_milli, share_memory_mib, bound, cpu_milli, memory_mib, team, pool })
    }

    /// What is there of a hold: devices of which less is free are in parts of their own.
    fn parts_there(&self, named: &NamedHold) -> Vec<Hold> {
        let known = |&id: &u32| {
            let node = self.inventory.find_node(&named.cluster, &named.node)?;
            self.inventory.find_device(node, id)
        };
        let devices: Vec<u32> = named.devices.iter().copied().filter(|id| known(id).is_some()).collect();
        let Some(hold) = self.find_hold(&NamedHold { devices, ..named.clone() }) else {
            return Vec::new();
        };
        let free = |at: usize| self.capacity.free_milli[at].min(hold.share_milli);
        let (whole, scarce): (Vec<usize>, Vec<usize>) =
            hold.devices.iter().partition(|&&at| free(at) == hold.share_milli);
        let (cpu, memory) =
            (self.capacity.free_cpu_milli[hold.node.at()], self.capacity.free_memory_mib[hold.node.at()]);
        let first = Hold {
            devices: whole,
            cpu_milli: hold.cpu_milli.min(cpu.unwrap_or(0)),
            memory_mib: hold.memory_mib.min(memory.unwrap_or(0)),
            ..hold.clone()
        };
        let rest = scarce.into_iter().filter(|&at| free(at) > 0).map(|at| Hold {
            devices: vec![at],
            share_milli: free(at),
            cpu_milli: 0,
            memory_mib: 0,
            ..hold.clone()
        });
        std::iter::once(first).chain(rest).collect()
    }

    fn takes_of(&self, hold: &Hold) -> Vec<Take> {
        let node = self.node(hold.node);
        let take = |resource, item: String, amount: u64, most: u64| Take {
            resource,
            cluster: node.cluster.clone(),
            node: node.name.clone(),
            item,
            amount,
            most,
        };
        let mut takes = Vec::new();
        for &at in &hold.devices {
            let id = self.inventory.devices[at].id.to_string();
            let (held_milli, held_memory) = self.held_of(at);
            let most = u64::from(self.capacity.free_milli[at]) + held_milli;
            takes.push(take(Resource::Device, id.clone(), u64::from(hold.share_milli), most));
            let usable = self.inventory.kinds[self.inventory.devices[at].kind.at()].usable_mib;
            if let Some(usable) = usable.filter(|_| hold.share_milli < WHOLE_MILLI) {
                let used = self.capacity.used_memory(at, usable) - held_memory;
                let most = (usable * u64::from(WHOLE_MILLI)).saturating_sub(used);
                takes.push(take(Resource::DeviceMemory, id, memory_of(hold, usable), most));
            }
        }
        let here = || self.holds.values().flatten().filter(|other| other.node == hold.node);
        if hold.cpu_milli > 0 {
            let free = self.capacity.free_cpu_milli[hold.node.at()].unwrap_or(0);
            let most = free + here().map(|other| other.cpu_milli).sum::<u64>();
            takes.push(take(Resource::Cpu, String::new(), hold.cpu_milli, most));
        }
        if hold.memory_mib > 0 {
            let free = self.capacity.free_memory_mib[hold.node.at()].unwrap_or(0);
            let most = free + here().map(|other| other.memory_mib).sum::<u64>();
            takes.push(take(Resource::HostMemory, String::new(), hold.memory_mib, most));
        }
        takes
    }

    fn takes_of_team(&self, team: &str, holds: &[Hold]) -> Vec<Take> {
        let held: Vec<&Hold> =
            self.holds.values().flatten().filter(|hold| hold.team.as_deref() == Some(team)).collect();
        let takes = self.quotas.takes(&self.inventory, team, holds, &held).into_iter();
        let (resource, cluster) = (Resource::Quota, String::new());
        takes
            .map(|(item, amount, most)| Take {
                resource,
                cluster: cluster.clone(),
                node: team.to_owned(),
                item,
                amount,
                most,
            })
            .collect()
    }

    /// Share and memory, thousandths each, that all holds have of a device.
    fn held_of(&self, at: usize) -> (u64, u64) {
        let usable = self.inventory.kinds[self.inventory.devices[at].kind.at()].usable_mib;
        let on_it = self.holds.values().flatten().filter(|held| held.devices.contains(&at));
        on_it.fold((0, 0), |(milli, memory), held| {
            (milli + u64::from(held.share_milli), memory + usable.map_or(0, |usable| memory_of(held, usable)))
        })
    }
}

/// Memory that a hold has of each of its devices, thousandths of a MiB.
fn memory_of(hold: &Hold, usable_mib: u64) -> u64 {
    match hold.share_memory_mib.filter(|_| hold.share_milli < WHOLE_MILLI) {
        Some(mib) => mib.min(usable_mib) * u64::from(WHOLE_MILLI),
        None => u64::from(hold.share_milli) * usable_mib,
    }
}

impl Take {
    fn order(&self) -> (Resource, &str, &str, &str) {
        (self.resource, &self.cluster, &self.node, &self.item)
    }
}
