//! A cluster whose devices pools share.

use crate::digest::Hasher;
use crate::document::{ClusterDocument, Headroom};
use crate::pool::{MICRO, PoolRow};
use crate::request::{Choice, StepKind};
use crate::units::{WHOLE_MILLI, milli_words};

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
pub(super) struct Pool {
    pub(super) name: Option<String>,
    nominal_milli: u64,
    borrow_milli: u64,
    lend_milli: u64,
    takes: Vec<StepKind>,
    kept: Option<Kept>,
}

/// A cluster whose devices are shared out.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) name: String,
    /// The last one is what no pool is guaranteed.
    pub(super) pools: Vec<Pool>,
    kept: Option<Kept>,
    /// Healthy devices.
    pub(super) healthy: u64,
    /// All of them.
    pub(super) all: u64,
    /// By pool.
    pub(super) used: Vec<u64>,
}

impl Shared {
    pub(super) fn of(cluster: &ClusterDocument) -> Self {
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
    pub(super) fn charged(&self, choice: &Choice) -> usize {
        let takes = |pool: &Pool| match (&choice.pool, choice.kind) {
            (Some(name), _) => pool.name.as_ref() == Some(name),
            (None, kind) => kind.is_some_and(|kind| pool.takes.contains(&kind)),
        };
        self.pools.iter().position(takes).unwrap_or(self.pools.len() - 1)
    }

    /// What a step charged to a pool may still have, and the rule that leaves it so little.
    pub(super) fn room(&self, pool: usize, priority: Option<i64>, devices: u64, used: &[u64]) -> (u64, usize) {
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
    pub(super) fn rules(&self) -> usize {
        self.pools.len() + 1
    }

    pub(super) fn words(&self, rule: usize) -> String {
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

    pub(super) fn rows(&self) -> impl Iterator<Item = PoolRow> + '_ {
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

    pub(super) fn digested(&self, hasher: Hasher) -> Hasher {
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
