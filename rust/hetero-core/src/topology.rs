//! How near two devices of a node are to each other.

use crate::device::Device;

/// Nearness of a pair, near to far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// One scale-up island.
    Island,
    /// One NUMA node, over PCIe.
    Numa,
    /// One node, across NUMA nodes or with NUMA unknown.
    Node,
}

/// The distance between two devices of one node.
pub fn distance(a: &Device, b: &Device) -> Distance {
    if a.island.is_some() && a.island == b.island {
        Distance::Island
    } else if a.numa.is_some() && a.numa == b.numa {
        Distance::Numa
    } else {
        Distance::Node
    }
}

/// Pairs among chosen devices, by distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// In one island.
    pub island: u32,
    /// In one NUMA node.
    pub numa: u32,
    /// Elsewhere in the node.
    pub node: u32,
}

impl Pairs {
    /// Counts the pairs among `chosen`, positions in `devices`.
    pub fn count(devices: &[Device], chosen: &[usize]) -> Self {
        let mut pairs = Self::default();
        for (i, &a) in chosen.iter().enumerate() {
            for &b in &chosen[i + 1..] {
                match distance(&devices[a], &devices[b]) {
                    Distance::Island => pairs.island += 1,
                    Distance::Numa => pairs.numa += 1,
                    Distance::Node => pairs.node += 1,
                }
            }
        }
        pairs
    }
}
