//! Which nodes a gang takes: the nearest ones, and of these the best.

use std::collections::BTreeMap;

use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::gang::part::{OfModel, of_each_model, pairs};
use crate::gang::{Found, Gang, Part};
use crate::place::Question;
use crate::power;
use crate::request::{Choice, Spread};
use crate::score::Values;
use crate::score::topology::{kind_of, sum};
use crate::tie::Tie;
use crate::topology::{Pairs, distance_of_nodes};
use crate::units::NodeIdx;
use crate::worth::Worth;

/// A node that can give its part.
#[derive(Clone, Copy, Debug)]
struct Member {
    node: NodeIdx,
    cluster: u32,
    zone: u32,
    rack: u32,
    points: i64,
    tie: Tie,
}

/// What a set of nodes is compared by: pairs in one zone, pairs in one rack, points, and, negative, devices without a network
/// card where that is preferred and what is left idle. A gang shares no device, so nobody of its kind is met.
pub(crate) type Merit = [i64; 5];

/// Some nodes, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set {
    merit: Merit,
    nodes: Vec<NodeIdx>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Cluster,
    Zone,
    Rack,
}

/// The best gang over all models.
pub(crate) fn search(fleet: &Fleet, choice: &Choice, fit: &[Option<Misfit>], question: &Question) -> Found {
    let models = of_each_model(fleet, choice, fit, question);
    let nodes = choice.peers as usize + 1;
    let (mut most, mut most_together) = (0, 0);
    let mut best: Option<(Set, Gang)> = None;
    for model in &models {
        let mut members = fed(fleet, choice, model, members(fleet, choice, model));
        most_together = most_together.max(largest_cluster(&members));
        if let Some(spread) = choice.place.spread {
            members = one_per_domain(fleet, members, spread);
        }
        most = most.max(largest_cluster(&members));
        let Some(set) = nearest(&mut members, nodes) else { continue };
        let order = |other: &Set| other.merit.cmp(&set.merit).then_with(|| set.nodes.cmp(&other.nodes));
        let ahead = best.as_ref().map_or(std::cmp::Ordering::Less, |(other, _)| order(other));
        if ahead.is_gt() {
            continue;
        }
        let gang = gang(fleet, choice, model, &set, question);
        let ids = |gang: &Gang| gang.parts.iter().map(|part| part.best.ids(fleet)).collect::<Vec<_>>();
        if ahead.is_lt() || best.as_ref().is_none_or(|(_, other)| ids(&gang) < ids(other)) {
            best = Some((set, gang));
        }
    }
    Found { gang: best.map(|(_, gang)| gang), most, most_together }
}

/// The nodes that can give their part with a model, where they are meant.
fn members(fleet: &Fleet, choice: &Choice, model: &OfModel) -> Vec<Member> {
    let nodes = (0..fleet.inventory().nodes.len()).map(NodeIdx::new);
    let meant = nodes.filter(|&node| filter::elsewhere(fleet.node(node), choice).is_none());
    meant
        .filter_map(|node| {
            let (points, tie) = model.points(node, fleet)?;
            let domains = fleet.node(node).domains;
            Some(Member { node, cluster: domains.cluster, zone: domains.zone, rack: domains.rack, points, tie })
        })
        .collect()
}

/// Of the nodes of a rack under a power budget the best ones, as many as it can feed together.
fn fed(fleet: &Fleet, choice: &Choice, model: &OfModel, mut members: Vec<Member>) -> Vec<Member> {
    if choice.may_cap_power || choice.is_cpu_only() || fleet.inventory().racks.is_empty() {
        return members;
    }
    let mut drawn: BTreeMap<usize, u64> = BTreeMap::new();
    members.sort_by_key(by_points);
    members.retain(|member| {
        let of_rack = power::budgets(fleet, member.node).find_map(|b| Some((b.rack?, b.draw_mw?, b.most_mw)));
        let added = || power::added_mw(fleet, &model.on(member.node, fleet)?.best.devices);
        let Some(((rack, draw_mw, most_mw), added_mw)) = of_rack.zip(added()) else {
            return true; // what is not known is within
        };
        let drawn = drawn.entry(rack).or_insert(draw_mw);
        let is_within = drawn.saturating_add(added_mw) <= most_mw;
        *drawn += if is_within { added_mw } else { 0 };
        is_within
    });
    members.sort_by_key(|member| member.node);
    members
}

fn largest_cluster(members: &[Member]) -> usize {
    members.chunk_by(|a, b| a.cluster == b.cluster).map(<[Member]>::len).max().unwrap_or(0)
}

/// The best member of each domain; in the order of the nodes.
fn one_per_domain(fleet: &Fleet, mut members: Vec<Member>, spread: Spread) -> Vec<Member> {
    let domain = |member: &Member| fleet.node(member.node).domains.of(spread);
    members.retain(|member| domain(member).is_some());
    members.sort_by_key(|member| (domain(member), by_points(member)));
    members.dedup_by_key(|member| domain(member));
    members.sort_by_key(|member| member.node);
    members
}

fn by_points(member: &Member) -> (std::cmp::Reverse<i64>, Tie, NodeIdx) {
    (std::cmp::Reverse(member.points), member.tie, member.node)
}

/// The best set of so many members; `None` when no cluster has as many.
fn nearest(members: &mut [Member], nodes: usize) -> Option<Set> {
    members.sort_by_key(|member| (member.cluster, member.zone, member.rack, by_points(member)));
    let clusters = members.chunk_by(|a, b| a.cluster == b.cluster).filter(|cluster| cluster.len() >= nodes);
    clusters.map(|cluster| fill(Level::Cluster, cluster, nodes)).reduce(better)
}

fn better(a: Set, b: Set) -> Set {
    if b.merit.cmp(&a.merit).then_with(|| a.nodes.cmp(&b.nodes)).is_le() { a } else { b }
}

/// The best `nodes` members of a domain.
///
/// Pairs within its parts are most when the largest parts are taken whole, one after the other, and the rest lies in one
/// more: whatever else is compared, the sizes are these. Which parts of the same size they are, and which one gives the
/// rest, is tried out; as worths add up, the best ones of a size are the best together.
fn fill(level: Level, members: &[Member], nodes: usize) -> Set {
    let (mut parts, inside): (Vec<&[Member]>, _) = match level {
        Level::Rack => return first(members, nodes),
        Level::Zone => (members.chunk_by(|a, b| a.rack == b.rack).collect(), Level::Rack),
        Level::Cluster => (members.chunk_by(|a, b| a.zone == b.zone).collect(), Level::Zone),
    };
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    let mut rest = nodes;
    let whole = parts
        .iter()
        .take_while(|part| {
            part.len() <= rest && {
                rest -= part.len();
                true
            }
        })
        .count();
    let last = whole.checked_sub(1).map_or(usize::MAX, |at| parts[at].len());
    let forced = parts.iter().take_while(|part| part.len() > last).count().min(whole);
    let mut alike: Vec<(usize, Set)> = (forced..parts.len())
        .take_while(|&at| parts[at].len() == last)
        .map(|at| (at, within(inside, parts[at], parts[at].len())))
        .collect();
    alike.sort_by(|(_, a), (_, b)| b.merit.cmp(&a.merit).then_with(|| a.nodes.cmp(&b.nodes)));
    let base = (0..forced).map(|at| within(inside, parts[at], parts[at].len())).fold(Set::EMPTY, Set::with);
    let with_rest = |spare: Option<usize>| {
        let chosen = alike.iter().filter(|(at, _)| Some(*at) != spare).take(whole - forced);
        let set = chosen.fold(base.clone(), |set, (_, part)| set.with(part.clone()));
        spare.map_or(set.clone(), |at| set.with(within(inside, parts[at], rest)))
    };
    if rest == 0 {
        return with_rest(None);
    }
    let spares = (forced..parts.len()).filter(|&at| parts[at].len() >= rest);
    let enough = |at: usize| alike.len() - usize::from(parts[at].len() == last) >= whole - forced;
    let all = spares.filter(|&at| enough(at)).map(|at| with_rest(Some(at)));
    all.reduce(better).expect("the part after the whole ones is larger than the rest")
}

/// The best members of a part, with the pairs that they are there.
fn within(level: Level, members: &[Member], nodes: usize) -> Set {
    let mut set = fill(level, members, nodes);
    let at = usize::from(level == Level::Rack);
    set.merit[at] += i64::try_from(nodes * (nodes - 1) / 2).unwrap_or(i64::MAX);
    set
}

/// The first members of a rack, which are its best.
fn first(members: &[Member], nodes: usize) -> Set {
    let less = |amount: u32| -i64::from(amount);
    let mut merit: Merit = [0; 5];
    let chosen = &members[..nodes];
    for member in chosen {
        merit[2] += member.points;
        merit[3] += less(member.tie.far_from_nic);
        merit[4] += less(member.tie.idle_milli);
    }
    let mut nodes: Vec<NodeIdx> = chosen.iter().map(|member| member.node).collect();
    nodes.sort_unstable();
    Set { merit, nodes }
}

impl Set {
    const EMPTY: Self = Self { merit: [0; 5], nodes: Vec::new() };

    fn with(mut self, other: Self) -> Self {
        self.merit.iter_mut().zip(other.merit).for_each(|(mine, theirs)| *mine += theirs);
        self.nodes.extend(other.nodes);
        self.nodes.sort_unstable();
        self
    }
}

/// The gang of a set of nodes.
fn gang(fleet: &Fleet, choice: &Choice, model: &OfModel, set: &Set, question: &Question) -> Gang {
    let parts: Vec<Part> = set.nodes.iter().filter_map(|&node| model.on(node, fleet)).collect();
    let count = parts.len() as f64;
    let mean = |value: fn(&Values) -> f64| parts.iter().map(|part| value(&part.best.values)).sum::<f64>() / count;
    let mut pairs_by_distance = Pairs::default();
    let devices = &fleet.inventory().devices;
    for (i, part) in parts.iter().enumerate() {
        pairs_by_distance.add_all(&Pairs::count(devices, &part.best.devices));
        let here = fleet.node(part.best.node).domains;
        for other in &parts[i + 1..] {
            let distance = distance_of_nodes(&here, &fleet.node(other.best.node).domains);
            pairs_by_distance.add(distance, u64::from(choice.count) * u64::from(choice.count));
        }
    }
    let nearness = || {
        let kind = kind_of(fleet, parts[0].best.candidate());
        sum(&pairs_by_distance, kind, question.weights.numa_penalty_milli) / pairs(choice.total()) as f64
    };
    let values = Values {
        performance: mean(|values| values.performance),
        topology: (!choice.is_cpu_only()).then(nearness),
        fragmentation: mean(|values| values.fragmentation),
        power: mean(|values| values.power),
        draw: parts[0].best.values.draw.map(|_| mean(|values| values.draw.unwrap_or(0.0))),
        penalty: mean(|values| values.penalty),
        lost: parts.iter().fold(Worth::default(), |sum, part| sum.plus(&part.best.values.lost)),
    };
    Gang { total: values.total(&question.weights), parts, values, pairs: pairs_by_distance, merit: set.merit }
}
