//! Nearness: of places that are as good, the one near the data.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hetero_core::units::NodeIdx;
use hetero_core::{Decision, Fleet, Placement, Question, Request, Result, place_uncut, spot};
use serde::Serialize;

/// How far a step is from one whose checkpoint or data it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// They have a node in common.
    Node,
    /// They have the cluster in common.
    Cluster,
    /// They have neither.
    Far,
}

/// Where a step is from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Nearness {
    /// Place of the other.
    pub step: usize,
    /// How far.
    pub distance: Distance,
}

/// Where something lies that a step takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) step: usize,
    pub(crate) cluster: &'a str,
    pub(crate) nodes: &'a [String],
}

impl<'a> Source<'a> {
    pub(crate) fn of(step: usize, placement: &'a Placement) -> Self {
        Self { step, cluster: &placement.cluster, nodes: &placement.nodes }
    }

    fn distance(&self, cluster: &str, nodes: &[String]) -> Distance {
        match (self.cluster == cluster, nodes.iter().any(|node| self.nodes.contains(node))) {
            (true, true) => Distance::Node,
            (true, false) => Distance::Cluster,
            _ => Distance::Far,
        }
    }

    pub(crate) fn nearness(&self, placement: &Placement) -> Nearness {
        Nearness { step: self.step, distance: self.distance(&placement.cluster, &placement.nodes) }
    }
}

/// The same choice with as many devices where it is nearest to the sources, the first of which counts before the second, and
/// so on, if that costs no more than so many points of the score.
pub(crate) fn nearer(
    fleet: &Fleet,
    request: &Request,
    question: &Question,
    sources: &[Source<'_>],
    points: f64,
    best: Placement,
) -> Result<Placement> {
    let far = |placement: &Placement| -> Vec<Distance> {
        sources.iter().map(|source| source.nearness(placement).distance).collect()
    };
    let is_as_good = |other: &Placement| {
        let is_same = other.choice_index == best.choice_index && other.devices.len() == best.devices.len();
        is_same && other.score >= best.score - points
    };
    let choice = &request.choices[best.choice_index];
    let found = if choice.may_be_gang() || choice.has_groups() || choice.units_milli.is_some() {
        let mut in_clusters = Vec::new();
        for source in sources {
            in_clusters.extend(in_cluster(fleet, request, question, best.choice_index, source.cluster)?);
        }
        in_clusters.into_iter().filter(|other| is_as_good(other) && far(other) < far(&best)).min_by_key(far)
    } else {
        let mut by_distance: BTreeMap<Vec<Distance>, Vec<NodeIdx>> = BTreeMap::new();
        for at in 0..fleet.inventory().nodes.len() * usize::from(!sources.is_empty()) {
            let node = &fleet.inventory().nodes[at];
            let name = std::slice::from_ref(&node.name);
            let distances = sources.iter().map(|source| source.distance(&node.cluster, name)).collect();
            by_distance.entry(distances).or_default().push(NodeIdx::new(at));
        }
        let nearer = by_distance.range(..far(&best)).map(|(_, nodes)| nodes);
        let mut placed = nearer.filter_map(|nodes| {
            let spot = spot::find_on(fleet, request, question, nodes)?;
            spot::placement(fleet, request, question, &spot)
        });
        placed.find(is_as_good)
    };
    Ok(match found {
        Some(near) => Placement { reasons: best.reasons, ..near },
        None => best,
    })
}

/// Where a choice would go in a cluster.
fn in_cluster(
    fleet: &Fleet,
    request: &Request,
    question: &Question,
    choice_index: usize,
    cluster: &str,
) -> Result<Option<Placement>> {
    let mut there = Cow::Borrowed(request);
    let clusters = &request.choices[choice_index].place.clusters;
    if !clusters.is_empty() && !clusters.iter().any(|allowed| allowed == cluster) {
        return Ok(None);
    }
    there.to_mut().choices[choice_index].place.clusters = vec![cluster.to_owned()];
    Ok(match place_uncut(fleet, &there, question)? {
        Decision::Placement(placement) => Some(*placement),
        Decision::NoFit(_) => None,
    })
}
