//! Tasks that wait, in the order in which they may start.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hetero_core::{Error, Result};

/// Who may start first, and whether who does not fit is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Strictly by arrival: while the first does not fit, nobody starts.
    Fifo,
    /// By priority, then age, then size, larger first. Who does not fit is passed by who does, for a while: then a node is
    /// kept for it.
    Backfill,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Fifo, Self::Backfill];

    /// The word that a person writes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Backfill => "backfill",
        }
    }

    /// Reads a word.
    pub fn parse(word: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|order| order.word() == word).ok_or_else(|| {
            let all = Self::ALL.map(Self::word).join(" and ");
            Error::InvalidRequest { message: format!("unknown order {word:?}; there are {all}") }
        })
    }

    /// Where a task stands: the least comes first.
    pub(super) fn key(self, priority: u8, arrives_ms: u64, demand_milli: u64, task: usize) -> Key {
        match self {
            Self::Fifo => Key(Reverse(0), arrives_ms, Reverse(0), task),
            Self::Backfill => Key(Reverse(priority), arrives_ms, Reverse(demand_milli), task),
        }
    }
}

/// Priority, arrival, demand, and the task by its place in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(Reverse<u8>, u64, Reverse<u64>, usize);

impl Key {
    pub(super) fn arrives_ms(self) -> u64 {
        self.1
    }

    pub(super) fn task(self) -> usize {
        self.3
    }
}

/// The queue. Tasks of a class that fits nowhere are set aside until capacity comes back that may be enough: all tasks of
/// a class ask for the same.
#[derive(Debug)]
pub(super) struct Queue {
    all: BTreeSet<(Key, usize)>,
    by_class: Vec<BTreeSet<Key>>,
    is_blocked: Vec<bool>,
    /// The first of each class that is not blocked.
    heads: BTreeSet<(Key, usize)>,
}

impl Queue {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            all: BTreeSet::new(),
            by_class: vec![BTreeSet::new(); classes],
            is_blocked: vec![false; classes],
            heads: BTreeSet::new(),
        }
    }

    pub(super) fn push(&mut self, key: Key, class: usize) {
        self.change(class, |all, of_class| {
            all.insert((key, class));
            of_class.insert(key);
        });
    }

    pub(super) fn remove(&mut self, key: Key, class: usize) {
        self.change(class, |all, of_class| {
            all.remove(&(key, class));
            of_class.remove(&key);
        });
    }

    fn change(&mut self, class: usize, change: impl FnOnce(&mut BTreeSet<(Key, usize)>, &mut BTreeSet<Key>)) {
        let head = |of_class: &BTreeSet<Key>| of_class.first().map(|&key| (key, class));
        head(&self.by_class[class]).map(|head| self.heads.remove(&head));
        change(&mut self.all, &mut self.by_class[class]);
        if !self.is_blocked[class] {
            self.heads.extend(head(&self.by_class[class]));
        }
    }

    /// Sets a class aside, or takes it back.
    pub(super) fn block(&mut self, class: usize, is_blocked: bool) {
        self.is_blocked[class] = is_blocked;
        self.change(class, |_, _| ());
    }

    /// Whether a class is set aside.
    pub(super) fn is_blocked(&self, class: usize) -> bool {
        self.is_blocked[class]
    }

    /// Classes set aside that somebody waits in.
    pub(super) fn blocked(&self) -> impl Iterator<Item = usize> {
        (0..self.by_class.len()).filter(|&class| self.is_blocked[class] && !self.by_class[class].is_empty())
    }

    /// Whom to try next: under [`Order::Fifo`] the very first, unless its class is blocked.
    pub(super) fn first(&self, order: Order) -> Option<(Key, usize)> {
        match order {
            Order::Fifo => self.all.first().copied().filter(|&(_, class)| !self.is_blocked[class]),
            Order::Backfill => self.heads.first().copied(),
        }
    }

    /// Everyone, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, usize)> {
        self.all.iter().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priority_then_age_then_size() {
        let mut queue = Queue::new(2);
        let key = |priority, arrives, demand, task| Order::Backfill.key(priority, arrives, demand, task);
        for (key, class) in
            [(key(0, 1, 1000, 0), 0), (key(2, 9, 500, 1), 0), (key(2, 9, 8000, 2), 1), (key(2, 7, 1, 3), 1)]
        {
            queue.push(key, class);
        }
        let mut tasks = Vec::new();
        while let Some((key, class)) = queue.first(Order::Backfill) {
            tasks.push(key.task());
            queue.remove(key, class);
        }
        assert_eq!(tasks, [3, 2, 1, 0]);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_blocked_class_is_passed_but_not_under_fifo() {
        let mut queue = Queue::new(2);
        let key = |task| Order::Fifo.key(0, task as u64, 0, task);
        queue.push(key(0), 0);
        queue.push(key(1), 1);
        queue.block(0, true);
        assert_eq!(queue.first(Order::Fifo), None);
        assert_eq!(queue.first(Order::Backfill), Some((key(1), 1)));
        queue.push(key(2), 0);
        assert_eq!(queue.first(Order::Backfill), Some((key(1), 1)));
        assert_eq!(queue.blocked().collect::<Vec<_>>(), [0]);
        queue.block(0, false);
        assert_eq!(queue.first(Order::Fifo), Some((key(0), 0)));
    }
}
