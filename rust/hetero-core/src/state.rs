//! Nodes in the same state are one candidate: they are filtered, packed and scored once.

use std::collections::BTreeSet;

use indexmap::IndexSet;

use crate::digest::Digest;
use crate::units::NodeIdx;

/// Which node is in which state. States are told apart by the digest of everything a decision may depend on.
#[derive(Clone, Debug, Default)]
pub struct StateTable {
    states: IndexSet<Digest>,
    of_node: Vec<usize>,
    /// By state: the nodes that are in it.
    members: Vec<BTreeSet<NodeIdx>>,
    /// States that some node is in.
    live: IndexSet<usize>,
}

impl StateTable {
    /// Sets the state of a node.
    pub fn set(&mut self, node: NodeIdx, state: Digest) {
        let (at, is_new) = self.states.insert_full(state);
        if is_new {
            self.members.push(BTreeSet::new());
        }
        if node.at() == self.of_node.len() {
            self.of_node.push(at);
        } else {
            let was = std::mem::replace(&mut self.of_node[node.at()], at);
            self.members[was].remove(&node);
            if self.members[was].is_empty() {
                self.live.swap_remove(&was);
            }
        }
        self.members[at].insert(node);
        self.live.insert(at);
    }

    /// The states that some node is in, by number, in no order.
    pub fn live(&self) -> impl Iterator<Item = usize> + Clone {
        self.live.iter().copied()
    }

    /// The first node in a state, by its number.
    pub fn first(&self, state: usize) -> Option<NodeIdx> {
        self.members[state].first().copied()
    }

    /// The state of a node.
    pub fn digest(&self, node: NodeIdx) -> Digest {
        self.states[self.of_node[node.at()]]
    }

    /// Whether so many states were left behind that the table is worth building anew.
    pub fn is_stale(&self) -> bool {
        self.states.len() > 4 * self.of_node.len() + 1024
    }

    /// The first node of every state, in the order of the nodes.
    pub fn representatives(&self) -> impl Iterator<Item = NodeIdx> {
        self.representatives_of(|_| true)
    }

    /// The first node of every state among the nodes that `is_meant` keeps, in the order of the nodes.
    pub fn representatives_of(&self, is_meant: impl Fn(NodeIdx) -> bool) -> impl Iterator<Item = NodeIdx> {
        let mut seen = vec![false; self.states.len()];
        let nodes = self.of_node.iter().enumerate().map(|(node, &at)| (NodeIdx::new(node), at));
        nodes.filter(move |&(node, at)| is_meant(node) && !std::mem::replace(&mut seen[at], true)).map(|(node, _)| node)
    }

    /// The number of a node's state, below [`StateTable::len`].
    pub fn index(&self, node: NodeIdx) -> usize {
        self.of_node[node.at()]
    }

    /// How many states there are, left ones included.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether no node was given a state yet.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}
