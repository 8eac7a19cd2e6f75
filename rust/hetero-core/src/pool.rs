//! Pools that share a cluster: each is guaranteed a nominal share of its devices, may borrow what others lend, and lends what
//! it does not use. And headroom: devices that only steps of a high priority may use.
//!
//! A step is charged to a pool wherever its devices are. With N what a pool is guaranteed and U what is charged to it, a
//! step fits if its pool stays within N and what it may borrow, and if afterwards all that pools use beyond their N is no
//! more than what others lend of what they do not use. What no pool is guaranteed is a pool of its own: steps that are
//! charged to none have it, may borrow without limit, and it lends all of it.

use crate::capacity::Capacity;
use crate::codes::Code;
use crate::digest::Hasher;
use crate::document::{ClusterDocument, Headroom};
use crate::filter::Misfit;
use crate::hold::Hold;
use crate::inventory::{Inventory, Node};
use crate::kind::Kind;
use crate::request::{Choice, StepKind};
use crate::units::{WHOLE_MILLI, milli_words};

/// Devices are counted in millionths: a share of one, of which a partition is a part.
const MICRO: u64 = 1_000_000;

/// Devices kept for steps of a priority, as a share of the cluster.
#[derive(Clone, Copy, Debug)]
struct Kept {
    share_milli: u64,
    priority: i64,
}

impl Kept {
    fn of(stated: Headroom) -> Self {
        Self { share_milli: milli(stated.share), priority: stated.priority }
    }

    /// What a step of a priority must leave.
    fn from(self, priority: Option<i64>) -> u64 {
        if priority.is_some_and(|priority| priority >= self.priority) { 0 } else { self.share_milli }
    }
}

/// A pool, its figures as thousandths of the cluster.
#[derive(Clone, Debug)]
struct Pool {
    name: Option<String>,
    nominal_milli: u64,
    borrow_milli: u64,
    lend_milli: u64,
    takes: Vec<StepKind>,
    kept: Option<Kept>,
}

/// A cluster whose devices are shared out.
#[derive(Clone, Debug)]
struct Shared {
    name: String,
    /// The last one is what no pool is guaranteed.
    pools: Vec<Pool>,
    kept: Option<Kept>,
    /// Healthy devices.
    healthy: u64,
    /// All of them.
    all: u64,
    /// By pool.
    used: Vec<u64>,
}

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

impl Shared {
    fn of(cluster: &ClusterDocument) -> Self {
        let stated = cluster.pools.iter().filter_map(|pool| Some((pool, milli(pool.nominal?))));
        let mut pools: Vec<Pool> = stated
            .map(|(pool, nominal_milli)| Pool {
                name: Some(pool.name.clone()),
                nominal_milli,
                borrow_milli: pool.borrow.map_or(0, milli),
                lend_milli: pool.lend.map_or(0, milli),
                takes: pool.takes.clone(),
                kept: pool.headroom.map(Kept::of),
            })
            .collect();
        let whole = u64::from(WHOLE_MILLI);
        let guaranteed: u64 = pools.iter().map(|pool| pool.nominal_milli).sum();
        pools.push(Pool {
            name: None,
            nominal_milli: whole.saturating_sub(guaranteed),
            borrow_milli: whole,
            lend_milli: whole,
            takes: Vec::new(),
            kept: None,
        });
        let used = vec![0; pools.len()];
        let kept = cluster.headroom.map(Kept::of);
        Self { name: cluster.name.clone(), pools, kept, healthy: 0, all: 0, used }
    }

    /// The pool that a choice is charged to, that of nobody included.
    fn charged(&self, choice: &Choice) -> usize {
        let takes = |pool: &Pool| match (&choice.pool, choice.kind) {
            (Some(name), _) => pool.name.as_ref() == Some(name),
            (None, kind) => kind.is_some_and(|kind| pool.takes.contains(&kind)),
        };
        self.pools.iter().position(takes).unwrap_or(self.pools.len() - 1)
    }

    /// What a step charged to a pool may still have, and the rule that leaves it so little.
    fn room(&self, pool: usize, priority: Option<i64>, devices: u64, used: &[u64]) -> (u64, usize) {
        let of = |milli: u64| (devices * milli / u64::from(WHOLE_MILLI)).cast_signed();
        let nominal = |pool: &Pool| of(pool.nominal_milli);
        let open = |pool: &Pool| nominal(pool) - of(pool.kept.map_or(0, |kept| kept.from(priority)));
        // What a pool uses beyond its share, or, below 0, lends.
        let beyond = |(pool, used): (&Pool, &u64)| {
            let used = used.cast_signed();
            (used - nominal(pool)).max(0) - of(pool.lend_milli).min((open(pool) - used).max(0))
        };
        let (this, in_use) = (&self.pools[pool], used[pool].cast_signed());
        let all: i64 = self.pools.iter().zip(used).map(beyond).sum();
        // Where more is borrowed than lent already, as after devices failed, it must not become more.
        let may_be = all.max(0) - (all - beyond((this, &used[pool])));
        let shared = if may_be < 0 { open(this) } else { nominal(this) } + may_be;
        let own = open(this) + of(this.borrow_milli);
        let free = self.kept.map(|kept| {
            let in_use: u64 = used.iter().sum();
            (devices.cast_signed() - in_use.cast_signed() - of(kept.from(priority)), self.pools.len())
        });
        let (left, rule) =
            free.map_or((own.min(shared) - in_use, pool), |free| free.min((own.min(shared) - in_use, pool)));
        (left.max(0).cast_unsigned(), rule)
    }

    /// How many rules there are to be met: the pools, and headroom.
    fn rules(&self) -> usize {
        self.pools.len() + 1
    }

    fn words(&self, rule: usize) -> String {
        let of = |milli: u64| milli_words(self.healthy * milli / MICRO);
        match (self.pools.get(rule), self.kept) {
            (Some(pool), _) => {
                let guaranteed = of(pool.nominal_milli);
                match &pool.name {
                    None => format!("what no pool of cluster {} is guaranteed: {guaranteed} devices", self.name),
                    Some(name) => {
                        let kept = pool.kept.map_or(String::new(), |kept| {
                            format!(", {} of them for priority {} and above", of(kept.share_milli), kept.priority)
                        });
                        let borrow = of(pool.borrow_milli);
                        format!(
                            "pool {name} of cluster {}: {guaranteed} devices{kept}, {borrow} borrowed at most",
                            self.name
                        )
                    }
                }
            }
            (None, Some(kept)) => {
                let devices = of(kept.share_milli);
                format!("{devices} devices of cluster {} free for priority {} and above", self.name, kept.priority)
            }
            (None, None) => unreachable!("nothing is kept"),
        }
    }

    fn rows(&self) -> impl Iterator<Item = PoolRow> + '_ {
        let of = |milli: u64| self.healthy * milli / u64::from(WHOLE_MILLI);
        self.pools.iter().zip(&self.used).map(move |(pool, &used)| {
            let nominal = of(pool.nominal_milli);
            PoolRow {
                cluster: self.name.clone(),
                pool: pool.name.clone(),
                nominal_milli: nominal / 1000,
                used_milli: used / 1000,
                borrowed_milli: used.saturating_sub(nominal) / 1000,
                lendable_milli: of(pool.lend_milli).min(nominal.saturating_sub(used)) / 1000,
            }
        })
    }

    fn digested(&self, hasher: Hasher) -> Hasher {
        let hasher = hasher.text("pools").text(&self.name).number(self.healthy).number(self.all);
        let kept = |hasher: Hasher, kept: Option<Kept>| {
            hasher.maybe(kept.map(|kept| kept.share_milli)).maybe(kept.map(|kept| kept.priority.cast_unsigned()))
        };
        let mut pools: Vec<(&Pool, u64)> = self.pools.iter().zip(self.used.iter().copied()).collect();
        pools.sort_by_key(|(pool, _)| &pool.name);
        pools.into_iter().fold(kept(hasher, self.kept), |hasher, (pool, used)| {
            let hasher = hasher.text(pool.name.as_deref().unwrap_or_default()).number(used).number(pool.nominal_milli);
            let hasher = hasher.number(pool.borrow_milli).number(pool.lend_milli);
            let mut takes: Vec<&str> = pool.takes.iter().map(|kind| kind.word()).collect();
            takes.sort_unstable();
            let hasher = takes.into_iter().fold(hasher, Hasher::text);
            kept(hasher, pool.kept)
        })
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share from 0 to 1, checked before
fn milli(share: f64) -> u64 {
    (share * f64::from(WHOLE_MILLI)).round() as u64
}

/// A share of a device, which may be a partition, in millionths of a whole one.
fn micro(inventory: &Inventory, at: usize, share_milli: u16) -> u64 {
    u64::from(share_milli) * inventory.kinds[inventory.devices[at].kind.at()].part_milli()
}
