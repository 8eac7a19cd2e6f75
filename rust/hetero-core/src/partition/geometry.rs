//! Which partitions fit on one device together, and where.

use crate::error::{Error, Result};
use crate::profile::{Partition, Profiles};

/// A partition and the memory slice at which it begins.
pub type Placed<'a> = (&'a Partition, u32);

/// Where partitions can be on one device at once, each by the memory slice at which it begins; `None` where they do not fit.
///
/// Of MIG the search is exact (NVIDIA MIG User Guide), within the budgets of compute and memory slices. Modes have no such
/// slices, and are all told to begin at 0; they fit where all are of one mode, and not more than it has. What is `placed`
/// stays where it is; where it cannot be there is an error.
pub fn starts(wanted: &[&Partition], placed: &[Placed<'_>]) -> Result<Option<Vec<u32>>> {
    let everything: Vec<&Partition> = wanted.iter().copied().chain(placed.iter().map(|&(part, _)| part)).collect();
    if everything.iter().any(|part| part.starts.is_empty()) {
        return Ok(is_one_mode(&everything).then(|| vec![0; wanted.len()]));
    }
    let taken = taken(placed)?;
    if !is_within_budget(&everything) {
        return Ok(None);
    }
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(wanted[at].memory_slices)); // stable: the largest are the hardest to place
    let mut found = vec![0; wanted.len()];
    Ok(can_place(wanted, &order, taken, &mut found).then_some(found))
}

/// Whether partitions of the first profile of a catalog in JSON fit on a device; see [`starts`].
pub fn fits_from_json(catalog: &[u8], names: &[String], placed: &[(String, u32)]) -> Result<bool> {
    let profiles = Profiles::from_json(catalog)?;
    let known = profiles.entries.first().map_or(&[][..], |profile| &profile.partitions);
    let find = |name: &String| {
        let unknown = || Error::InvalidRequest { message: format!("no partition {name:?}; name one of the device's") };
        known.iter().find(|part| part.name == *name).ok_or_else(unknown)
    };
    let wanted = names.iter().map(find).collect::<Result<Vec<_>>>()?;
    let placed = placed.iter().map(|(name, start)| Ok((find(name)?, *start))).collect::<Result<Vec<_>>>()?;
    Ok(starts(&wanted, &placed)?.is_some())
}

/// Whether partitions fit on one device.
pub(crate) fn fit_together(wanted: &[&Partition]) -> bool {
    starts(wanted, &[]).is_ok_and(|starts| starts.is_some())
}

fn is_one_mode(everything: &[&Partition]) -> bool {
    let is_one = everything.windows(2).all(|pair| pair[0].name == pair[1].name);
    let most = everything.iter().filter_map(|part| part.count).min().unwrap_or(1);
    is_one && everything.len() <= most as usize
}

/// What placing does not count: compute slices, the cap of each name, and the one set of media engines.
fn is_within_budget(everything: &[&Partition]) -> bool {
    let compute: u32 = everything.iter().filter_map(|part| part.compute_slices).sum();
    let alike = |part: &Partition| everything.iter().filter(|other| other.name == part.name).count();
    let is_few = |part: &Partition| part.count.is_none_or(|most| alike(part) <= most as usize);
    everything.iter().all(|part| compute <= part.device_compute_slices.unwrap_or(0) && is_few(part))
        && everything.iter().filter(|part| part.has_media_engines).count() <= 1
}

/// The memory slices in use, as bits.
fn taken(placed: &[Placed<'_>]) -> Result<u64> {
    let mut taken = 0;
    for &(part, start) in placed {
        let slices = mask(part, start);
        if !part.starts.contains(&start) || taken & slices != 0 {
            let what = format!("{} cannot be at memory slice {start}: not a legal start, or not free", part.name);
            return Err(Error::InvalidRequest { message: format!("{what}; look where the device's partitions are") });
        }
        taken |= slices;
    }
    Ok(taken)
}

fn can_place(wanted: &[&Partition], order: &[usize], taken: u64, found: &mut [u32]) -> bool {
    let Some((&first, rest)) = order.split_first() else { return true };
    let part = wanted[first];
    part.starts.iter().any(|&start| {
        found[first] = start;
        let slices = mask(part, start);
        taken & slices == 0 && can_place(wanted, rest, taken | slices, found)
    })
}

fn mask(part: &Partition, start: u32) -> u64 {
    ((1 << part.memory_slices.unwrap_or(0)) - 1) << start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::layout::samples::{a100, mi300x};
    use crate::partition::layout::{Reach, layouts};

    fn fits(names: &str) -> bool {
        let parts = a100();
        let find = |name| parts.iter().find(|part| part.name == name).expect("a partition of the card");
        fit_together(&names.split_whitespace().map(find).collect::<Vec<_>>())
    }

    #[test]
    fn both_budgets_and_the_places_count() {
        assert!(fits("3g.20gb 4g.20gb"));
        assert!(fits("1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb 1g.5gb"));
        assert!(!fits("4g.20gb 4g.20gb"));
        assert!(!fits("3g.20gb 3g.20gb 1g.5gb"));
        assert!(!fits("1g.5gb+me 1g.5gb+me"));
    }

    #[test]
    fn places_do_not_overlap() {
        let parts = a100();
        let wanted: Vec<&Partition> = ["1g.5gb", "3g.20gb", "1g.5gb"]
            .iter()
            .map(|name| parts.iter().find(|part| part.name == *name).expect("a partition of the card"))
            .collect();
        assert_eq!(starts(&wanted, &[]).expect("nothing is placed"), Some(vec![4, 0, 5]));
    }

    #[test]
    fn no_layout_has_two_partitions_in_one_place() {
        let parts = a100();
        for layout in layouts(&parts, Reach::Device) {
            let wanted: Vec<&Partition> = layout.iter().map(|&at| &parts[at]).collect();
            let starts = starts(&wanted, &[]).expect("nothing is placed").expect("a layout is legal");
            let mut taken = 0;
            for (part, start) in wanted.iter().zip(starts) {
                assert!(part.starts.contains(&start), "{layout:?}");
                assert_eq!(taken & mask(part, start), 0, "{layout:?}");
                taken |= mask(part, start);
            }
        }
    }

    #[test]
    fn what_is_placed_stays() {
        let parts = a100();
        let (small, large) = (&parts[0], parts.iter().find(|part| part.name == "4g.20gb").expect("it has one"));
        assert_eq!(starts(&[large], &[(small, 0)]).expect("it can be there"), None);
        assert!(starts(&[large], &[(small, 7)]).is_err());
    }

    #[test]
    fn a_mode_cuts_the_whole_device() {
        let parts = mi300x();
        let cpx = &parts[1];
        assert!(fit_together(&[cpx; 8]));
        assert!(!fit_together(&[cpx; 9]));
        assert!(!fit_together(&[cpx, &parts[2]]));
    }
}
