//! Devices of a group: their ids, and what the document says of each.

use std::ops::Range;

use crate::document::{DeviceGroup, Nic, Numa, Switch};
use crate::error::{Error, Result};

/// Devices of one node at most: above every machine on the market, and a bound for a mistyped count.
const MAX_DEVICES_PER_NODE: usize = 1024;

/// Ids of a group that starts after `before` devices.
pub(super) fn group_ids(group: &DeviceGroup, before: usize, path: &str) -> Result<Range<u32>> {
    let (first, count) = match (group.id, group.count) {
        (Some(id), None | Some(1)) => (id as usize, 1),
        (None, Some(count)) => (before, count as usize),
        (None, None) => {
            return Err(Error::document(path, "`count` is missing; a single device may say `id` instead"));
        }
        (Some(_), Some(_)) => {
            return Err(Error::document(path, "`id` is for a single device; drop it or `count`"));
        }
    };
    if first + count > MAX_DEVICES_PER_NODE {
        let message = format!("{} devices on one node; at most {MAX_DEVICES_PER_NODE}", first + count);
        return Err(Error::document(format!("{path}.count"), message));
    }
    if count != 1 && group.uuid.is_some() {
        return Err(Error::document(format!("{path}.uuid"), "a uuid is of one device; list the devices one by one"));
    }
    if let Some(Numa::Each(list)) = &group.numa
        && list.len() != count
    {
        let message = format!("{} NUMA nodes for {count} devices; give one number, or one per device", list.len());
        return Err(Error::document(format!("{path}.numa"), message));
    }
    if let Some(Switch::Each(list)) = &group.switch
        && list.len() != count
    {
        let message = format!("{} switches for {count} devices; give one number, or one per device", list.len());
        return Err(Error::document(format!("{path}.switch"), message));
    }
    if let Some(Nic::Each(list)) = &group.nic
        && list.len() != count
    {
        let message = format!("{} answers for {count} devices; give one, or one per device", list.len());
        return Err(Error::document(format!("{path}.nic"), message));
    }
    let bound = |n: usize| u32::try_from(n).expect("bounded above");
    Ok(bound(first)..bound(first + count))
}

pub(super) fn switch(group: &DeviceGroup, i: usize) -> Option<u16> {
    match &group.switch {
        None => None,
        Some(Switch::One(switch)) => Some(*switch),
        Some(Switch::Each(list)) => list[i],
    }
}

pub(super) fn is_near_nic(group: &DeviceGroup, i: usize) -> bool {
    match &group.nic {
        None => false,
        Some(Nic::One(is_near)) => *is_near,
        Some(Nic::Each(list)) => list[i] == Some(true),
    }
}

pub(super) fn numa(group: &DeviceGroup, i: usize) -> Option<u16> {
    match &group.numa {
        None => None,
        Some(Numa::One(numa)) => Some(*numa),
        Some(Numa::Each(list)) => list[i],
    }
}
