//! How near two devices are to each other.

use crate::device::Device;
use crate::domain::Domains;

/// Nearness of a pair, near to far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// Two partitions of one device.
    Device,
    /// One scale-up island.
    Island,
    /// One PCIe switch.
    Switch,
    /// One NUMA node, over PCIe.
    Numa,
    /// One node, across NUMA nodes or with NUMA unknown.
    Node,
    /// One rack.
    Rack,
    /// One zone.
    Zone,
    /// One cluster, across zones or with the zone unknown.
    Cluster,
}

/// How many distances there are.
const DISTANCES: usize = 8;

/// The distance between two devices of one node.
pub fn distance(a: &Device, b: &Device) -> Distance {
    if a.card.is_some() && a.card == b.card {
        Distance::Device
    } else if a.island.is_some() && a.island == b.island {
        Distance::Island
    } else if a.switch.is_some() && a.switch == b.switch {
        Distance::Switch
    } else if a.numa.is_some() && a.numa == b.numa {
        Distance::Numa
    } else {
        Distance::Node
    }
}

/// The distance between devices of two nodes of one cluster.
pub fn distance_of_nodes(a: &Domains, b: &Domains) -> Distance {
    if a.rack == b.rack {
        Distance::Rack
    } else if a.zone == b.zone {
        Distance::Zone
    } else {
        Distance::Cluster
    }
}

/// Pairs among chosen devices, by distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs([u64; DISTANCES]);

impl Pairs {
    /// Counts the pairs among `chosen`, positions in `devices` of one node.
    pub fn count(devices: &[Device], chosen: &[usize]) -> Self {
        let mut pairs = Self::default();
        for (i, &a) in chosen.iter().enumerate() {
            for &b in &chosen[i + 1..] {
                pairs.add(distance(&devices[a], &devices[b]), 1);
            }
        }
        pairs
    }

    /// Counts so many more.
    pub fn add(&mut self, distance: Distance, pairs: u64) {
        self.0[distance as usize] += pairs;
    }

    /// Counts those of others too.
    pub fn add_all(&mut self, others: &Self) {
        self.0.iter_mut().zip(others.0).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// How many there are at a distance.
    pub fn at(&self, distance: Distance) -> u64 {
        self.0[distance as usize]
    }

    /// How many there are in all.
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }
}
