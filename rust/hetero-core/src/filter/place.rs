//! Request against the place of a node: cluster, region, tags and labels. What is not tagged is not so.

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
    (!asked.data.iter().all(|data| site.data.contains(data))).then(|| Misfit::of(Code::DataLocality))
}
