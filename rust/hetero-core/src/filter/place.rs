//! Request against the place of a node: cluster, region, tags, labels, and what it is spread over. What is not tagged is
//! not so.

use crate::codes::Code;
use crate::filter::Misfit;
use crate::inventory::Node;
use crate::request::Choice;

/// Why a node is in the wrong place for a choice; devices and load apart.
pub fn elsewhere(node: &Node, choice: &Choice) -> Option<Misfit> {
    let (asked, site) = (&choice.place, &node.site);
    if asked.is_anywhere() {
        return None;
    }
    let is_in_cluster = asked.clusters.is_empty() || asked.clusters.contains(&node.cluster);
    let is_in_region = asked.regions.is_empty() || site.region.as_ref().is_some_and(|is| asked.regions.contains(is));
    let is_labelled = asked.labels.iter().all(|(key, value)| site.labels.get(key) == Some(value));
    if !is_in_cluster || !is_in_region || !is_labelled {
        return Some(Misfit::of(Code::Location));
    }
    if !asked.compliance.iter().all(|tag| site.compliance.contains(tag)) {
        return Some(Misfit::of(Code::Compliance));
    }
    if !asked.data.iter().all(|data| site.holds(data)) {
        return Some(Misfit::of(Code::DataLocality));
    }
    if asked.checkpoint.as_ref().is_some_and(|checkpoint| !site.holds(checkpoint)) {
        return Some(Misfit::of(Code::CheckpointElsewhere));
    }
    let domain = node.domains.of(asked.spread?);
    let is_taken = domain.is_some_and(|domain| asked.taken.contains(&domain));
    // The team's steps end; a place of which nothing is known stays so.
    (domain.is_none() || is_taken).then(|| Misfit { is_passing: is_taken, ..Misfit::of(Code::Spread) })
}
