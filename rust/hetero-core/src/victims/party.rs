//! What is in use, as parties: entries of the document that end together or not at all.
//!
//! Entries of one owner on one node are one party, and so are all entries of a cluster that name the same gang. A party
//! may end for a step only if all its entries say that they are preemptible and state a lower priority.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::decision::CountedFrom;
use crate::digest::{Digest, Hasher};
use crate::document::{NodeDocument, Use};
use crate::hold::Hold;
use crate::inventory::Inventory;
use crate::units::{NodeIdx, WHOLE_MILLI};
use crate::victims::age::seconds_between;

/// What one entry takes, and what is lost when it ends.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) owner: String,
    pub(super) gang: Option<String>,
    /// Ids of its devices as stated, unhealthy ones included.
    pub(super) ids: Vec<u32>,
    /// Its healthy devices; CPU and host memory as stated, which may be more than the node has.
    pub(super) hold: Hold,
    pub(super) priority: i64,
    /// What its lost work is counted from; `None` where no age is known.
    pub(super) counted_from: Option<CountedFrom>,
    /// Whether a checkpoint fits within the notice.
    pub(super) can_save: Option<bool>,
    /// Thousandths of a device-second; `None` is unknown.
    pub(super) lost_device_ms: Option<u64>,
}

/// A node of the document, of which cluster, and how long its steps are warned.
pub(crate) struct PartySite<'a> {
    pub(crate) cluster: &'a str,
    pub(crate) document: &'a NodeDocument,
    pub(crate) notice_s: Option<u64>,
}

/// Entries that end together. All are preemptible.
#[derive(Clone, Debug)]
pub(super) struct Party {
    /// Its place among all parties.
    pub(super) place: usize,
    /// By node, owner and devices.
    pub(super) entries: Vec<Entry>,
    /// The highest of its entries.
    pub(super) priority: i64,
    pub(super) cost: Cost,
}

/// What it costs that parties end: first the fewest that cannot save their work within the notice, then the least of what
/// nobody knows, then the least loss, then the fewest entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    /// Entries whose checkpoint takes longer than the notice.
    late: u64,
    /// Shares of devices whose lost work is unknown, thousandths.
    unknown_milli: u64,
    lost_device_ms: u64,
    entries: u64,
}

impl Cost {
    /// More than any set of parties costs.
    pub(super) const BEYOND: Self =
        Self { late: u64::MAX, unknown_milli: u64::MAX, lost_device_ms: u64::MAX, entries: u64::MAX };

    #[must_use]
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            late: self.late.saturating_add(other.late),
            unknown_milli: self.unknown_milli.saturating_add(other.unknown_milli),
            lost_device_ms: self.lost_device_ms.saturating_add(other.lost_device_ms),
            entries: self.entries.saturating_add(other.entries),
        }
    }

    /// An equal part for each of so many, rounded down.
    #[must_use]
    pub(super) fn part_of(self, parts: usize) -> Self {
        if parts < 2 {
            return self;
        }
        let parts = parts as u64;
        Self {
            late: self.late / parts,
            unknown_milli: self.unknown_milli / parts,
            lost_device_ms: self.lost_device_ms / parts,
            entries: self.entries / parts,
        }
    }

    fn of(entry: &Entry) -> Self {
        let held = held_milli(entry.ids.len(), entry.hold.share_milli);
        let (unknown_milli, lost_device_ms) = entry.lost_device_ms.map_or((held, 0), |lost| (0, lost));
        let late = u64::from(entry.can_save == Some(false) && held > 0);
        Self { late, unknown_milli, lost_device_ms, entries: 1 }
    }
}

/// All parties that may ever end, and where.
#[derive(Clone, Debug, Default)]
pub struct Parties {
    all: Vec<Party>,
    /// Places in `all` of those with an entry on a node, in their order.
    on: IndexMap<NodeIdx, Vec<usize>>,
    /// CPU and host memory that the entries of a node state beyond what it has: that much comes free to nobody.
    beyond: IndexMap<NodeIdx, (u64, u64)>,
    digest: Digest,
}

impl Parties {
    /// Gathers the entries of all nodes, which are in the order of the inventory.
    pub(crate) fn of<'a>(
        inventory: &Inventory,
        sites: impl Iterator<Item = PartySite<'a>>,
        made_at: Option<&str>,
    ) -> Self {
        let (mut found, mut beyond) = (Groups::default(), IndexMap::new());
        for (n, PartySite { cluster, document, notice_s }) in sites.enumerate() {
            let (node, used) = (NodeIdx::new(n), &document.used);
            if !used.iter().any(|used| used.preemptible == Some(true) || used.gang.is_some()) {
                continue; // nothing of it ever ends, nor keeps a gang from ending
            }
            for used in used {
                found.add(cluster, node, used, entry_of(inventory, node, used, made_at, notice_s));
            }
            let surplus = |have: Option<u64>, of: fn(&Use) -> Option<u64>| {
                let stated = used.iter().filter_map(of).fold(0, u64::saturating_add);
                stated.saturating_sub(have.unwrap_or(0))
            };
            beyond.insert(
                node,
                (surplus(document.cpu_milli, |u| u.cpu_milli), surplus(document.memory_mib, |u| u.memory_mib)),
            );
        }
        let mut parties = Self { all: found.parties(), beyond, ..Self::default() };
        for (at, party) in parties.all.iter().enumerate() {
            for entry in &party.entries {
                let here = parties.on.entry(entry.hold.node).or_default();
                if here.last() != Some(&at) {
                    here.push(at);
                }
            }
        }
        parties.digest = parties.digested(inventory);
        parties
    }

    /// Of everything that tells which parties end; `None` where none may.
    pub(crate) fn digest(&self) -> Option<Digest> {
        (!self.all.is_empty()).then_some(self.digest)
    }

    /// Whether one may end for a step of this priority.
    pub(super) fn is_any_below(&self, priority: i64) -> bool {
        self.all.iter().any(|party| party.priority < priority)
    }

    /// The nodes that have any, each with those that may end for a step of this priority.
    pub(super) fn below(&self, priority: i64) -> impl Iterator<Item = (NodeIdx, Vec<&Party>)> {
        self.on.iter().filter_map(move |(&node, places)| {
            let here = places.iter().map(|&at| &self.all[at]).filter(|party| party.priority < priority);
            let here: Vec<&Party> = here.collect();
            (!here.is_empty()).then_some((node, here))
        })
    }

    /// Those that may end for a step of this priority and have an entry on one of these nodes, in their order.
    pub(super) fn below_on(&self, priority: i64, nodes: impl Iterator<Item = NodeIdx>) -> Vec<&Party> {
        let here: BTreeSet<usize> = nodes.filter_map(|node| self.on.get(&node)).flatten().copied().collect();
        here.into_iter().map(|at| &self.all[at]).filter(|party| party.priority < priority).collect()
    }

    /// CPU and host memory that come free on a node when so much of what is stated there ends.
    pub(super) fn host_freed(&self, node: NodeIdx, cpu_milli: u64, memory_mib: u64) -> (u64, u64) {
        let (cpu_beyond, memory_beyond) = self.beyond.get(&node).copied().unwrap_or_default();
        (cpu_milli.saturating_sub(cpu_beyond), memory_mib.saturating_sub(memory_beyond))
    }

    fn digested(&self, inventory: &Inventory) -> Digest {
        let mut hasher = Hasher::new("parties");
        for party in &self.all {
            hasher = hasher.number(party.entries.len() as u64).number(party.priority.cast_unsigned());
            for entry in &party.entries {
                let (node, beyond) = (&inventory.nodes[entry.hold.node.at()], self.beyond[&entry.hold.node]);
                hasher = hasher.text(&node.cluster).text(&node.name).number(beyond.0).number(beyond.1);
                hasher = hasher.text(&entry.owner).text(entry.gang.as_deref().unwrap_or_default());
                hasher = hasher.number(entry.ids.len() as u64);
                hasher = entry.ids.iter().fold(hasher, |hasher, &id| hasher.number(u64::from(id)));
                hasher = hasher.number(u64::from(entry.hold.share_milli)).maybe(entry.hold.share_memory_mib);
                hasher = hasher.number(entry.hold.cpu_milli).number(entry.hold.memory_mib);
                hasher = hasher.number(entry.priority.cast_unsigned()).maybe(entry.lost_device_ms);
                hasher = hasher.number(entry.counted_from.map_or(0, |from| from as u64 + 1));
                if let Some(can_save) = entry.can_save {
                    hasher = hasher.text("notice").number(u64::from(can_save));
                }
            }
        }
        hasher.finish()
    }
}

/// Entries by what joins them.
#[derive(Default)]
struct Groups {
    /// Entries of each group, those that may not end as `None`; a group that was joined to another is empty.
    joined: Vec<Vec<Option<Entry>>>,
    of_owner: IndexMap<(NodeIdx, String), usize>,
    of_gang: IndexMap<(String, String), usize>,
}

impl Groups {
    fn add(&mut self, cluster: &str, node: NodeIdx, used: &Use, entry: Option<Entry>) {
        let owner = (node, used.owner.clone());
        let gang = used.gang.clone().map(|gang| (cluster.to_owned(), gang));
        let known = gang.as_ref().and_then(|gang| self.of_gang.get(gang).copied());
        let group = match (self.of_owner.get(&owner).copied(), known) {
            (Some(one), Some(other)) if one != other => self.join(one, other),
            (Some(one), _) | (None, Some(one)) => one,
            (None, None) => {
                self.joined.push(Vec::new());
                self.joined.len() - 1
            }
        };
        self.of_owner.insert(owner, group);
        if let Some(gang) = gang {
            self.of_gang.insert(gang, group);
        }
        self.joined[group].push(entry);
    }

    fn join(&mut self, one: usize, other: usize) -> usize {
        let moved = std::mem::take(&mut self.joined[other]);
        self.joined[one].extend(moved);
        self.of_owner.values_mut().chain(self.of_gang.values_mut()).filter(|at| **at == other).for_each(|at| *at = one);
        one
    }

    /// The groups of which all may end, in an order that the document's does not change.
    fn parties(self) -> Vec<Party> {
        let whole = self.joined.into_iter().filter_map(|group| group.into_iter().collect::<Option<Vec<Entry>>>());
        let mut all: Vec<Party> = whole.filter_map(party).collect();
        all.sort_by(|a, b| a.entries.iter().map(key).cmp(b.entries.iter().map(key)));
        all.iter_mut().enumerate().for_each(|(place, party)| party.place = place);
        all
    }
}

fn party(mut entries: Vec<Entry>) -> Option<Party> {
    entries.sort_by(|a, b| key(a).cmp(&key(b)));
    let priority = entries.iter().map(|entry| entry.priority).max()?;
    let cost = entries.iter().map(Cost::of).fold(Cost::default(), Cost::plus);
    Some(Party { place: 0, entries, priority, cost })
}

type Key<'a> = (NodeIdx, &'a str, &'a [u32], u16, u64, u64, Option<u64>, Option<bool>, i64);

fn key(entry: &Entry) -> Key<'_> {
    let (hold, owner) = (&entry.hold, entry.owner.as_str());
    let (lost, can_save) = (entry.lost_device_ms, entry.can_save);
    (hold.node, owner, &entry.ids, hold.share_milli, hold.cpu_milli, hold.memory_mib, lost, can_save, entry.priority)
}

/// One entry; `None` where it may not end.
fn entry_of(
    inventory: &Inventory,
    node: NodeIdx,
    used: &Use,
    made_at: Option<&str>,
    notice_s: Option<u64>,
) -> Option<Entry> {
    let priority = used.priority.filter(|_| used.preemptible == Some(true))?;
    let share_milli = used.share_milli.unwrap_or(WHOLE_MILLI);
    let found = used.devices.iter().filter_map(|&id| inventory.find_device(node, id));
    let devices: Vec<usize> = found.filter(|&at| inventory.devices[at].is_healthy).collect();
    let since_start = || seconds_between(used.since.as_deref()?, made_at?);
    let age = match used.checkpoint_age_s {
        Some(age_s) => Some((CountedFrom::Checkpoint, age_s)),
        None => since_start().map(|age_s| (CountedFrom::Start, age_s)),
    };
    let held = held_milli(used.devices.len(), share_milli);
    let can_save = used.checkpoint_s.zip(notice_s).map(|(takes_s, notice_s)| takes_s <= notice_s);
    // Whoever can save its work within the notice loses the time for that, if not less.
    let saving = used.checkpoint_s.filter(|_| can_save == Some(true)).map(|takes_s| (CountedFrom::Notice, takes_s));
    let age = [age, saving].into_iter().flatten().min_by_key(|(_, seconds)| *seconds);
    let lost = age.map(|(_, seconds)| seconds.saturating_add(used.restart_s.unwrap_or(0)));
    let lost = if held == 0 { Some(0) } else { lost.map(|seconds| held.saturating_mul(seconds)) };
    let mut ids = used.devices.clone();
    ids.sort_unstable();
    Some(Entry {
        owner: used.owner.clone(),
        gang: used.gang.clone(),
        ids,
        hold: Hold {
            node,
            devices,
            share_milli,
            share_memory_mib: used.device_memory_mib,
            bound: used.bound,
            cpu_milli: used.cpu_milli.unwrap_or(0),
            memory_mib: used.memory_mib.unwrap_or(0),
            team: None, // quotas and pools are left as they are
            pool: None,
        },
        priority,
        counted_from: age.map(|(from, _)| from),
        can_save,
        lost_device_ms: lost,
    })
}

fn held_milli(devices: usize, share_milli: u16) -> u64 {
    devices as u64 * u64::from(share_milli)
}
