//! Nodes of the document with where they stand there.

use indexmap::{IndexMap, IndexSet};

use crate::document::{ClusterDocument, DeviceGroup, FleetDocument, NodeDocument, PoolDocument, Use};
use crate::error::{Error, Result};
use crate::inventory::Node;
use crate::kind::Kind;
use crate::profile::Profiles;
use crate::sharing::Terms;

/// A node of the document with where it stands there.
pub(super) struct NamedNode<'a> {
    pub(super) cluster: &'a ClusterDocument,
    pub(super) cluster_path: String,
    pub(super) document: &'a NodeDocument,
    /// Its cluster and its place there.
    pub(super) place: (usize, usize),
    pub(super) path: String,
    pub(super) is_only_one: bool,
}

impl NamedNode<'_> {
    pub(super) fn label(&self) -> String {
        let name = &self.document.name;
        if self.is_only_one { name.clone() } else { format!("{}/{name}", self.cluster.name) }
    }

    fn pool(&self) -> Option<(usize, &PoolDocument)> {
        self.cluster.pools.iter().enumerate().find(|(_, pool)| Some(&pool.name) == self.document.pool.as_ref())
    }

    /// The pool that an entry of the node is charged to, by its place among those that share the cluster out.
    pub(super) fn charged(&self, used: &Use, path: &str) -> Result<Option<u16>> {
        let Some(name) = &used.charged else { return Ok(None) };
        let mut sharing = self.cluster.pools.iter().filter(|pool| pool.nominal.is_some());
        let at = sharing.position(|pool| pool.name == *name).and_then(|at| u16::try_from(at).ok());
        at.map(Some).ok_or_else(|| {
            let message = format!("no pool {name:?} with a nominal share is in cluster {:?}", self.cluster.name);
            Error::document(format!("{path}.charged"), message)
        })
    }

    /// Whether its pool lets devices be cut.
    pub(super) fn may_be_cut(&self) -> bool {
        self.pool().is_some_and(|(_, pool)| pool.repartition == Some(true))
    }

    /// The kind of a group of devices in the pool of the node.
    pub(super) fn kind_of(&self, group: &DeviceGroup, path: &str, profiles: &Profiles) -> Result<Kind> {
        let kind = Kind::of(group, path, profiles)?;
        let of_pool = |(at, pool)| Terms::of(pool, &format!("{}.pools[{at}]", self.cluster_path));
        let terms = self.pool().map_or(Ok(Terms::default()), of_pool)?;
        let shared_by = self.cluster.is_shared_out().then_some(self.place.0);
        Ok(kind.on(Terms { shared_by, ..terms }, &self.cluster.name))
    }
}

impl<'a> NamedNode<'a> {
    /// A node that stands where another does.
    pub(super) fn in_place_of(node: &Node, fleet: &'a FleetDocument, document: &'a NodeDocument) -> Self {
        let (c, n) = node.place;
        let (cluster_path, path) = (format!("clusters[{c}]"), format!("clusters[{c}].nodes[{n}]"));
        let is_only_one = node.label == node.name;
        Self { cluster: &fleet.clusters[c], cluster_path, document, place: node.place, path, is_only_one }
    }
}

pub(super) fn named_nodes(document: &FleetDocument) -> Result<Vec<NamedNode<'_>>> {
    let mut nodes = Vec::new();
    let mut clusters = IndexSet::new();
    let mut times: IndexMap<&String, u32> = IndexMap::new();
    for (c, cluster) in document.clusters.iter().enumerate() {
        let cluster_path = format!("clusters[{c}]");
        check_name(&cluster.name, &cluster_path)?;
        if !clusters.insert(&cluster.name) {
            return Err(Error::document(cluster_path, format!("cluster {:?} is named twice", cluster.name)));
        }
        cluster.check_pools(&cluster_path)?;
        let mut names = IndexSet::new();
        for (n, node) in cluster.nodes.iter().enumerate() {
            let path = format!("{cluster_path}.nodes[{n}]");
            check_name(&node.name, &path)?;
            if !names.insert(&node.name) {
                let message = format!("node {:?} is named twice in cluster {:?}", node.name, cluster.name);
                return Err(Error::document(path, message));
            }
            times.entry(&node.name).and_modify(|times| *times += 1).or_insert(1u32);
            let cluster_path = cluster_path.clone();
            nodes.push(NamedNode { cluster, cluster_path, document: node, place: (c, n), path, is_only_one: true });
        }
    }
    for node in &mut nodes {
        node.is_only_one = times[&node.document.name] == 1;
    }
    Ok(nodes)
}

pub(super) fn check_name(name: &str, path: &str) -> Result<()> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Error::document(format!("{path}.name"), "a name is empty or has control characters"));
    }
    Ok(())
}
