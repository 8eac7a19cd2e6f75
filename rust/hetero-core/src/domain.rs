//! What nodes share: racks, zones and power domains, as the labels of the hosts say.

use indexmap::IndexSet;

use crate::inventory::Node;
use crate::request::Spread;

/// Labels that name a rack; the first one that a node has counts.
pub const RACK_LABELS: [&str; 3] = ["hetero-ops/rack", "topology.kubernetes.io/rack", "rack"];
/// Labels that name the switch of the network that a node hangs on. Where there is none, a rack stands for its switch.
pub const SWITCH_LABELS: [&str; 3] = ["hetero-ops/switch", "network.topology.nvidia.com/leaf", "switch"];
/// Labels that name a zone.
pub const ZONE_LABELS: [&str; 2] = ["topology.kubernetes.io/zone", "zone"];
/// Labels that name a power domain.
pub const POWER_LABELS: [&str; 2] = ["hetero-ops/power-domain", "power-domain"];

/// Where a node stands. Two nodes with the same number are in the same rack, zone or cluster; a node of which that is
/// not known has numbers of its own, and so shares nothing.
///
/// A rack lies in a zone and a zone in a cluster: the same name elsewhere is another rack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Domains {
    /// Cluster.
    pub cluster: u32,
    /// Zone.
    pub zone: u32,
    /// Rack.
    pub rack: u32,
    /// Switch of the network.
    pub switch: u32,
    /// The node itself.
    pub node: u32,
    /// Power domain, which may cross racks; `None` is unknown.
    pub power: Option<u32>,
    /// Whether a label names the rack.
    pub is_rack_known: bool,
}

impl Domains {
    /// The number of what a step is to be spread over; `None` is unknown.
    pub fn of(&self, spread: Spread) -> Option<u32> {
        match spread {
            Spread::Node => Some(self.node),
            Spread::Rack => Some(self.rack).filter(|_| self.is_rack_known),
            Spread::Power => self.power,
        }
    }
}

/// Numbers the domains of nodes, which are in the order of cluster and name.
pub(crate) fn assign(nodes: &mut [Node]) {
    let (mut clusters, mut zones, mut racks, mut switches, mut powers) =
        (IndexSet::new(), IndexSet::new(), IndexSet::new(), IndexSet::new(), IndexSet::new());
    for (number, node) in nodes.iter_mut().enumerate() {
        let node_number = number_of(number);
        let label = |keys: &[&str]| label(node, keys).cloned();
        let (zone, rack, power) = (label(&ZONE_LABELS), label(&RACK_LABELS), label(&POWER_LABELS));
        let cluster = number_of(clusters.insert_full(node.cluster.clone()).0);
        let alone = |is_known: bool| (!is_known).then_some(node_number);
        let is_zone_known = zone.is_some() || rack.is_some(); // a rack without a zone is a zone of its own
        let of_rack = rack.clone().filter(|_| zone.is_none());
        let switch = label(&SWITCH_LABELS);
        let is_rack_known = rack.is_some();
        let zone_number = number_of(zones.insert_full((cluster, zone.clone(), of_rack, alone(is_zone_known))).0);
        let rack = number_of(racks.insert_full((cluster, zone, rack, alone(is_rack_known))).0);
        let of_rack = switch.is_none().then_some(rack);
        node.domains = Domains {
            cluster,
            zone: zone_number,
            rack,
            switch: number_of(switches.insert_full((cluster, switch, of_rack)).0),
            node: node_number,
            power: power.map(|power| number_of(powers.insert_full((cluster, power)).0)),
            is_rack_known,
        };
    }
}

/// The first of these labels that a node has.
pub(crate) fn label<'a>(node: &'a Node, keys: &[&str]) -> Option<&'a String> {
    keys.iter().find_map(|&key| node.site.labels.get(key))
}

fn number_of(at: usize) -> u32 {
    u32::try_from(at).expect("a fleet has fewer than 2^32 nodes")
}
