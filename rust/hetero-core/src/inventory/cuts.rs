//! What devices of a pool can be cut into: their partitions have kinds before any of them is there.

use crate::document::DeviceGroup;
use crate::error::Result;
use crate::inventory::Inventory;
use crate::inventory::named::NamedNode;
use crate::kind::Kind;
use crate::profile::Profiles;
use crate::units::KindIdx;

/// Whether devices of a group can be cut at all: whole cards of a model that has partitions.
pub(super) fn may_be_cut(group: &DeviceGroup, kind: &Kind) -> bool {
    let has_partitions = kind.profile.as_ref().is_some_and(|profile| !profile.partitions.is_empty());
    kind.partition.is_none() && group.vgpu != Some(true) && has_partitions
}

/// The kinds of all partitions of a group's profile, in its order; none where its pool does not let it be cut.
pub(super) fn kinds_of_parts(
    node: &NamedNode<'_>,
    group: &DeviceGroup,
    kind: &Kind,
    path: &str,
    profiles: &Profiles,
) -> Result<Vec<Kind>> {
    if !node.may_be_cut() || !may_be_cut(group, kind) {
        return Ok(Vec::new());
    }
    let partitions = kind.profile.iter().flat_map(|profile| &profile.partitions);
    partitions.map(|cut| node.kind_of(&group.part(&cut.name), path, profiles)).collect()
}

impl Inventory {
    /// Notes which kinds may be cut, and into what. All kinds are there already.
    pub(super) fn add_cuts(&mut self, nodes: &[NamedNode<'_>], profiles: &Profiles) -> Result<()> {
        for node in nodes.iter().filter(|node| node.may_be_cut()) {
            for (g, group) in node.document.devices.iter().enumerate() {
                let path = format!("{}.devices[{g}]", node.path);
                let kind = node.kind_of(group, &path, profiles)?;
                let parts = kinds_of_parts(node, group, &kind, &path, profiles)?;
                let parts: Vec<KindIdx> = parts.iter().map(|part| self.kind_index(part)).collect();
                if !parts.is_empty() {
                    self.cuts.insert(self.kind_index(&kind), parts);
                }
            }
        }
        Ok(())
    }
}
