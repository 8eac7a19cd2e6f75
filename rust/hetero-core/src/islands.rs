//! Scale-up islands: which devices of a node reach each other over a fabric.

use indexmap::{IndexMap, IndexSet};

use crate::device::Device;
use crate::document::NodeDocument;
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::profile::Profile;
use crate::units::KindIdx;

/// Sets the island of each device: as the document says, else as the profile implies.
pub(crate) fn assign(node: &NodeDocument, path: &str, kinds: &[Kind], devices: &mut [Device]) -> Result<()> {
    let mut islands = stated(node, path, devices)?;
    let named: IndexSet<u32> = islands.iter().flatten().copied().collect();
    let is_silent = |device: &&Device| node.devices[device.group].islands.is_none() && !named.contains(&device.id);
    let silent = devices.iter().filter(is_silent);
    islands.extend(implied(silent, kinds));
    islands.retain(|island| island.len() > 1); // a link to nobody is none
    for island in &mut islands {
        island.sort_unstable();
    }
    islands.sort_unstable();
    for (number, island) in islands.iter().enumerate() {
        for device in devices.iter_mut().filter(|device| island.contains(&device.id)) {
            device.island = u16::try_from(number).ok();
        }
    }
    Ok(())
}

fn stated(node: &NodeDocument, path: &str, devices: &[Device]) -> Result<Vec<Vec<u32>>> {
    let mut islands = Vec::new();
    let mut seen = IndexSet::new();
    for (g, group) in node.devices.iter().enumerate() {
        for (i, island) in group.islands.iter().flatten().enumerate() {
            let at = || format!("{path}.devices[{g}].islands[{i}]");
            for id in island {
                if !devices.iter().any(|device| device.id == *id) {
                    return Err(Error::document(at(), format!("device {id} is not on the node")));
                }
                if !seen.insert(*id) {
                    return Err(Error::document(at(), format!("device {id} is in two islands; a device is in one")));
                }
            }
            islands.push(island.clone());
        }
    }
    Ok(islands)
}

/// All devices of a kind whose usual platform joins them, in islands of at most its scale-up domain.
///
/// Partitions are left out: a slice of a device has no link of its own.
fn implied<'a>(devices: impl Iterator<Item = &'a Device>, kinds: &[Kind]) -> Vec<Vec<u32>> {
    let mut by_kind: IndexMap<KindIdx, Vec<u32>> = IndexMap::new();
    for device in devices {
        by_kind.entry(device.kind).or_default().push(device.id);
    }
    let mut islands = Vec::new();
    for (kind, mut ids) in by_kind {
        let kind = &kinds[kind.at()];
        let joined = kind.profile.as_ref().and_then(Profile::fabric_devices);
        if let (Some(devices), None) = (joined, &kind.partition) {
            ids.sort_unstable();
            islands.extend(ids.chunks(devices as usize).map(<[u32]>::to_vec));
        }
    }
    islands
}
