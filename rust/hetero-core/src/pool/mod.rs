//! Pools that share a cluster: each is guaranteed a nominal share of its devices, may borrow what others lend, and lends what
//! it does not use. And headroom: devices that only steps of a high priority may use.
//!
//! A step is charged to a pool wherever its devices are. With N what a pool is guaranteed and U what is charged to it, a
//! step fits if its pool stays within N and what it may borrow, and if afterwards all that pools use beyond their N is no
//! more than what others lend of what they do not use. What no pool is guaranteed is a pool of its own: steps that are
//! charged to none have it, may borrow without limit, and it lends all of it.

mod shared;

use crate::capacity::Capacity;
use crate::codes::Code;
use crate::digest::Hasher;
use crate::document::ClusterDocument;
use crate::filter::Misfit;
use crate::hold::Hold;
use crate::inventory::{Inventory, Node};
use crate::kind::Kind;
use crate::request::Choice;
use crate::units::WHOLE_MILLI;

use shared::Shared;

/// Devices are counted in millionths: a share of one, of which a partition is a part.
const MICRO: u64 = 1_000_000;

/// The pools of all clusters, and what is charged to them.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    /// By the place of the cluster in the document; empty where no cluster is shared out.
    clusters: Vec<Option<Shared>>,
}

/// What a pool of a cluster has, in thousandths of a device.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PoolRow {
    /// Cluster.
    pub cluster: String,
    /// Pool; `None` for what no pool is guaranteed.
    pub pool: Option<String>,
    /// What it is guaranteed.
    pub nominal_milli: u64,
    /// What is charged to it.
    pub used_milli: u64,
    /// What of that is beyond its guarantee.
    pub borrowed_milli: u64,
    /// What others may use of what it does not.
    pub lendable_milli: u64,
}

impl Pools {
    /// The pools of the clusters of a document, with what is in use at the start.
    pub(crate) fn of(clusters: &[ClusterDocument], inventory: &Inventory, capacity: &Capacity) -> Self {
        if !clusters.iter().any(ClusterDocument::is_shared_out) {
            return Self::default();
        }
        let shared = |cluster: &ClusterDocument| cluster.is_shared_out().then(|| Shared::of(cluster));
        let mut pools = Self { clusters: clusters.iter().map(shared).collect() };
        pools.count(inventory, capacity);
        pools
    }

    /// Counts anew what there is and what is in use.
    pub(crate) fn count(&mut self, inventory: &Inventory, capacity: &Capacity) {
        for shared in self.clusters.iter_mut().flatten() {
            (shared.healthy, shared.all) = (0, 0);
            shared.used.fill(0);
        }
        for node in &inventory.nodes {
            let Some(shared) = self.clusters.get_mut(node.place.0).and_then(Option::as_mut) else { continue };
            for at in node.devices.clone() {
                let whole = micro(inventory, at, WHOLE_MILLI);
                shared.all += whole;
                if inventory.devices[at].is_healthy {
                    shared.healthy += whole;
                    let used = &mut shared.used[shared.pools.len() - 1];
                    *used += whole - micro(inventory, at, capacity.free_milli[at]);
                }
            }
        }
        for hold in inventory.charged_holds.iter().filter(|hold| hold.pool.is_some()) {
            self.change(&Hold { pool: None, ..hold.clone() }, inventory, |used, micro| used - micro);
            self.take(hold, inventory);
        }
    }

    /// Whether any cluster is shared out.
    pub fn is_any(&self) -> bool {
        !self.clusters.is_empty()
    }

    /// The pool of a node's cluster that a choice is charged to, by its place there: the one that it names, else the one that
    /// takes its kind.
    pub fn charged(&self, node: &Node, choice: &Choice) -> Option<u16> {
        let shared = self.clusters.get(node.place.0)?.as_ref()?;
        let pool = shared.charged(choice);
        u16::try_from(pool).ok().filter(|_| shared.pools[pool].name.is_some())
    }

    /// The name of a pool of a node's cluster.
    pub fn name(&self, node: &Node, pool: u16) -> Option<&str> {
        self.clusters.get(node.place.0)?.as_ref()?.pools.get(usize::from(pool))?.name.as_deref()
    }

    /// The place of a pool in a node's cluster.
    pub fn find(&self, node: &Node, name: &str) -> Option<u16> {
        let pools = &self.clusters.get(node.place.0)?.as_ref()?.pools;
        pools.iter().position(|pool| pool.name.as_deref() == Some(name)).and_then(|at| u16::try_from(at).ok())
    }

    /// Counts what a hold takes.
    pub(crate) fn take(&mut self, hold: &Hold, inventory: &Inventory) {
        self.change(hold, inventory, |used, micro| used + micro);
    }

    /// Counts what a hold gives back.
    pub(crate) fn give(&mut self, hold: &Hold, inventory: &Inventory) {
        self.change(hold, inventory, |used, micro| used - micro);
    }

    fn change(&mut self, hold: &Hold, inventory: &Inventory, change: fn(u64, u64) -> u64) {
        let place = inventory.nodes[hold.node.at()].place.0;
        let Some(shared) = self.clusters.get_mut(place).and_then(Option::as_mut) else { return };
        let pool = hold.pool.map_or(shared.pools.len() - 1, usize::from);
        for &at in &hold.devices {
            shared.used[pool] = change(shared.used[pool], micro(inventory, at, hold.share_milli));
        }
    }

    /// Why a step of a priority may have no more devices of a kind: its pool, or what is kept for others. It passes when steps
    /// end, unless there is less in all.
    pub(crate) fn misfit(&self, choice: &Choice, kind: &Kind, priority: Option<i64>) -> Option<Misfit> {
        let place = kind.terms.shared_by?;
        let shared = self.clusters[place].as_ref()?;
        let pool = shared.charged(choice);
        let asked = u64::from(choice.total()) * u64::from(kind.share_for(choice)) * kind.part_milli();
        let (room, rule) = shared.room(pool, priority, shared.healthy, &shared.used);
        let (most, _) = shared.room(pool, priority, shared.all, &vec![0; shared.used.len()]);
        let before: usize = self.clusters[..place].iter().flatten().map(Shared::rules).sum();
        (room < asked).then(|| Misfit {
            limit: u16::try_from(before + rule).ok(),
            is_passing: asked <= most,
            ..Misfit::numbers(Code::ReservedPool, Some(room / MICRO), asked.div_ceil(MICRO))
        })
    }

    /// What was met, in words.
    pub(crate) fn words(&self, limit: u16) -> String {
        let mut rule = usize::from(limit);
        for shared in self.clusters.iter().flatten() {
            if rule < shared.rules() {
                return shared.words(rule);
            }
            rule -= shared.rules();
        }
        unreachable!("a misfit names a rule that is there")
    }

    /// What each pool has now, by cluster in the order of the document.
    pub fn rows(&self) -> Vec<PoolRow> {
        self.clusters.iter().flatten().flat_map(Shared::rows).collect()
    }

    /// Adds to a digest what an answer depends on; the order of the document cannot matter.
    pub(crate) fn digested(&self, priority: Option<i64>, hasher: Hasher) -> Hasher {
        let mut clusters: Vec<&Shared> = self.clusters.iter().flatten().collect();
        clusters.sort_by_key(|shared| &shared.name);
        let hasher = if clusters.is_empty() { hasher } else { hasher.maybe(priority.map(i64::cast_unsigned)) };
        clusters.into_iter().fold(hasher, |hasher, shared| shared.digested(hasher))
    }
}

/// A share of a device, which may be a partition, in millionths of a whole one.
fn micro(inventory: &Inventory, at: usize, share_milli: u16) -> u64 {
    u64::from(share_milli) * inventory.kinds[inventory.devices[at].kind.at()].part_milli()
}
