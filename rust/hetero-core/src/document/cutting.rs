//! A node with one of its devices cut into partitions.

use std::collections::BTreeSet;

use super::node::{DeviceGroup, Nic, NodeDocument, Numa, Switch};
use crate::device::Device;

impl DeviceGroup {
    /// A partition of a device of the group, wherever that is.
    pub(crate) fn part(&self, partition: &str) -> Self {
        Self { sku: self.sku.clone(), partition: Some(partition.to_owned()), count: Some(1), ..Self::default() }
    }

    /// One device of the group, with the place that it has.
    fn only(&self, device: &Device) -> Self {
        Self {
            id: Some(device.id),
            count: None,
            numa: device.numa.map(Numa::One),
            switch: device.switch.map(Switch::One),
            nic: self.nic.as_ref().map(|_| Nic::One(device.is_near_nic)),
            ..self.clone()
        }
    }
}

impl NodeDocument {
    /// The same node without a device, and with its partitions instead, each a name and an id. All else is as it was: ids,
    /// and the islands that were derived, are stated.
    pub(crate) fn with_cut(&self, devices: &[Device], cut: u32, parts: &[(&str, u32)]) -> Self {
        let mut sorted: Vec<&Device> = devices.iter().collect();
        sorted.sort_by_key(|device| device.id);
        let mut told = BTreeSet::new();
        let mut groups = Vec::new();
        for device in sorted.iter().filter(|device| device.id != cut) {
            let island = device.island.filter(|&island| told.insert(island));
            let members = |island| sorted.iter().filter(move |d| d.island == Some(island) && d.id != cut).map(|d| d.id);
            let islands = Some(island.map(|island| members(island).collect()).into_iter().collect());
            groups.push(DeviceGroup { islands, ..self.devices[device.group].only(device) });
        }
        for device in sorted.iter().filter(|device| device.id == cut) {
            let place = self.devices[device.group].only(device);
            groups.extend(parts.iter().map(|&(name, id)| DeviceGroup {
                id: Some(id),
                count: None,
                numa: place.numa.clone(),
                switch: place.switch.clone(),
                nic: place.nic.clone(),
                pci: place.pci.clone(),
                ..place.part(name)
            }));
        }
        let mut node = Self { devices: groups, ..self.clone() };
        node.used.iter_mut().for_each(|used| used.devices.retain(|&id| id != cut)); // of which it takes nothing
        node
    }
}
