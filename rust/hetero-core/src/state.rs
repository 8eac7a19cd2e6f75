//! Nodes in the same state are one candidate: they are filtered, packed and scored once.

use indexmap::IndexMap;

use crate::digest::Digest;
use crate::units::NodeIdx;

/// What is known of all nodes in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateFacts {
    /// See [`crate::fragmentation::weighted_unusable`].
    pub weighted_unusable: u64,
}

/// Which node is in which state. States are told apart by the digest of everything a decision may depend on.
#[derive(Clone, Debug, Default)]
pub struct StateTable {
    facts: IndexMap<Digest, StateFacts>,
    of_node: Vec<usize>,
}

impl StateTable {
    /// Sets the state of a node; `facts` is asked for states not seen before.
    pub fn set(&mut self, node: NodeIdx, state: Digest, facts: impl FnOnce() -> StateFacts) {
        let at = self.facts.get_index_of(&state).unwrap_or_else(|| self.facts.insert_full(state, facts()).0);
        if node.at() == self.of_node.len() {
            self.of_node.push(at);
        } else {
            self.of_node[node.at()] = at;
        }
    }

    /// The state of a node.
    pub fn digest(&self, node: NodeIdx) -> Digest {
        *self.facts.get_index(self.of_node[node.at()]).expect("every node has a state").0
    }

    /// The facts of a node's state.
    pub fn facts(&self, node: NodeIdx) -> StateFacts {
        self.facts[self.of_node[node.at()]]
    }

    /// Whether so many states were left behind that the table is worth building anew.
    pub fn is_stale(&self) -> bool {
        self.facts.len() > 4 * self.of_node.len() + 1024
    }

    /// The first node of every state, in the order of the nodes.
    pub fn representatives(&self) -> impl Iterator<Item = NodeIdx> {
        self.representatives_of(|_| true)
    }

    /// The first node of every state among the nodes that `is_meant` keeps, in the order of the nodes.
    pub fn representatives_of(&self, is_meant: impl Fn(NodeIdx) -> bool) -> impl Iterator<Item = NodeIdx> {
        let mut seen = vec![false; self.facts.len()];
        let nodes = self.of_node.iter().enumerate().map(|(node, &at)| (NodeIdx::new(node), at));
        nodes.filter(move |&(node, at)| is_meant(node) && !std::mem::replace(&mut seen[at], true)).map(|(node, _)| node)
    }

    /// The number of a node's state, below [`StateTable::len`].
    pub fn index(&self, node: NodeIdx) -> usize {
        self.of_node[node.at()]
    }

    /// How many states there are, left ones included.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Whether no node was given a state yet.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }
}
