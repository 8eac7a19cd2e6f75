//! Nodes in the same state are one candidate: they are filtered, packed and scored once.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::digest::Digest;
use crate::units::NodeIdx;

/// Which node is in which state. States are told apart by the digest of everything a decision may depend on.
#[derive(Clone, Debug, Default)]
pub struct StateTable {
    numbers: IndexMap<Digest, usize>,
    /// By number.
    states: Vec<State>,
    of_node: Vec<usize>,
    /// Numbers of states that no node is in; the next new state takes one.
    vacant: Vec<usize>,
}

#[derive(Clone, Debug)]
struct State {
    digest: Digest,
    /// How many states have had the number before.
    generation: u32,
    /// The nodes that are in it.
    members: BTreeSet<NodeIdx>,
}

/// A state that some node is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateKey {
    /// Its number, below [`StateTable::len`].
    pub number: usize,
    /// Tells it from others that have the number at other times.
    pub generation: u32,
}

impl StateTable {
    /// Sets the state of a node.
    pub fn set(&mut self, node: NodeIdx, state: Digest) {
        let number = self.number(state);
        self.states[number].members.insert(node);
        if node.at() == self.of_node.len() {
            self.of_node.push(number);
            return;
        }
        let left = std::mem::replace(&mut self.of_node[node.at()], number);
        if left != number {
            let state = &mut self.states[left];
            state.members.remove(&node);
            if state.members.is_empty() {
                self.numbers.swap_remove(&state.digest);
                self.vacant.push(left);
            }
        }
    }

    fn number(&mut self, digest: Digest) -> usize {
        if let Some(&number) = self.numbers.get(&digest) {
            return number;
        }
        let number = if let Some(number) = self.vacant.pop() {
            let state = &mut self.states[number];
            state.digest = digest;
            state.generation = state.generation.wrapping_add(1);
            number
        } else {
            self.states.push(State { digest, generation: 0, members: BTreeSet::new() });
            self.states.len() - 1
        };
        self.numbers.insert(digest, number);
        number
    }

    /// The states that some node is in, by number.
    pub fn live(&self) -> impl Iterator<Item = StateKey> {
        let states = self.states.iter().enumerate().filter(|(_, state)| !state.members.is_empty());
        states.map(|(number, state)| StateKey { number, generation: state.generation })
    }

    /// The first node in a state, by its number.
    pub fn first(&self, number: usize) -> Option<NodeIdx> {
        self.states[number].members.first().copied()
    }

    /// The state of a node.
    pub fn digest(&self, node: NodeIdx) -> Digest {
        self.states[self.of_node[node.at()]].digest
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

    /// The state of a node as a number below [`StateTable::len`].
    pub fn index(&self, node: NodeIdx) -> usize {
        self.of_node[node.at()]
    }

    /// How many numbers of states there are, vacant ones included.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether no node was given a state yet.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}
