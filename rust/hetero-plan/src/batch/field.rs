//! A fleet and a batch as rooms and shapes; what does not fit that form stays where it is.

use hetero_core::digest::Digest;
use hetero_core::document::NodeState;
use hetero_core::filter;
use hetero_core::inventory::Node;
use hetero_core::request::Choice;
use hetero_core::sharing::Terms;
use hetero_core::spot::Spot;
use hetero_core::units::NodeIdx;
use hetero_core::{Fleet, Request};
use indexmap::IndexMap;

use crate::batch::ask::Batch;
use crate::batch::pool::Pool;
use crate::batch::room::{Item, MOST_DEVICES, Offer, Room, Run, Shape, Sort, bits};

/// Rooms and shapes.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) shapes: Vec<Shape>,
    pub(crate) sorts: Vec<Sort>,
    /// In the order of the nodes; nodes with too many devices have none.
    pub(crate) rooms: Vec<Room>,
    /// By task: its level.
    levels: Vec<u32>,
    /// Whether all tasks are on one level.
    is_flat: bool,
    /// By node: its first device.
    first_device: Vec<usize>,
}

/// Whether a node can be a room: its devices fit a set, no power budget ties them to each other, and no pool has them
/// shared in its own way.
pub(crate) fn is_room(fleet: &Fleet, node: &Node) -> bool {
    let is_usual = |run: &hetero_core::inventory::Run| fleet.inventory().kinds[run.kind.at()].terms == Terms::default();
    is_countable(fleet, node) && !node.is_under_budget() && node.kinds.iter().all(is_usual)
}

/// Whether a node can be a room for a bound, which no power budget makes less true.
pub(crate) fn is_countable(_: &Fleet, node: &Node) -> bool {
    node.devices.len() <= MOST_DEVICES
}

/// Whether a request is of the form that rooms know.
pub(crate) fn is_simple(fleet: &Fleet, request: &Request) -> bool {
    let [choice] = request.choices.as_slice() else { return false };
    let is_limited = |team: &String| fleet.quotas().is_limited(team);
    let is_linked = choice.count > 1 && choice.link.is_some();
    let is_plain = !choice.may_be_gang()
        && !choice.has_groups()
        && choice.place.spread.is_none()
        && choice.share_memory_mib.is_none()
        && choice.units_milli.is_none()
        && choice.tensor_ranks.is_none_or(|ranks| ranks < 2)
        && choice.count_ceiling.is_none()
        && choice.min_score.is_none()
        && !choice.one_numa_node
        && !choice.near_nic;
    let has_opaque = || fleet.inventory().kinds.iter().any(hetero_core::kind::Kind::is_opaque);
    is_plain && !is_linked && !request.team.as_ref().is_some_and(is_limited) && !has_opaque()
}

impl Field {
    /// The field of a fleet in which nothing but what stays is placed. `spots` says, by task, what is placed and may move;
    /// `values` is by request.
    pub(crate) fn new(
        fleet: &Fleet,
        batch: &Batch,
        (levels, values): (&[u32], &[u64]),
        spots: &[Option<Spot>],
        is_room: fn(&Fleet, &Node) -> bool,
    ) -> Self {
        let is_room = |at: usize| is_room(fleet, fleet.node(NodeIdx::new(at)));
        let shapes = shapes(fleet, batch, levels, values, |task| {
            spots[task].as_ref().is_none_or(|spot| spot.parts.iter().all(|(node, _)| is_room(node.at())))
        });
        let choices: Vec<&Choice> = shapes.iter().map(|shape| &batch.requests[shape.request].choices[0]).collect();
        let mut sorts: IndexMap<Sort, ()> = IndexMap::new();
        let (mut rooms, mut known) = (Vec::new(), IndexMap::new());
        for node in (0..fleet.inventory().nodes.len()).filter(|&at| is_room(at)).map(NodeIdx::new) {
            let (sort, _) = sorts.insert_full(sort(fleet, node, &choices, &mut known), ());
            rooms.push((node, sort));
        }
        let sorts: Vec<Sort> = sorts.into_keys().collect();
        let rooms = rooms.into_iter().map(|(node, sort)| Room::new(node, sort, &sorts[sort])).collect();
        let first_device = fleet.inventory().nodes.iter().map(|node| node.devices.start).collect();
        let is_flat = levels.iter().all(|&level| level == 0);
        let levels = levels.to_vec();
        let mut field = Self { shapes, sorts, rooms, levels, is_flat, first_device };
        field.enter(batch, spots);
        field
    }

    /// Puts what is placed into the rooms.
    fn enter(&mut self, batch: &Batch, spots: &[Option<Spot>]) {
        let of_request: IndexMap<usize, usize> =
            self.shapes.iter().enumerate().map(|(at, shape)| (shape.request, at)).collect();
        let room_of: IndexMap<NodeIdx, usize> =
            self.rooms.iter().enumerate().map(|(at, room)| (room.node, at)).collect();
        for (task, spot) in spots.iter().enumerate() {
            let Some((spot, &at)) = spot.as_ref().zip(of_request.get(&batch.tasks[task].request)) else { continue };
            let [(node, devices)] = spot.parts.as_slice() else { continue };
            let Some(&room) = room_of.get(node) else { continue };
            let room = &mut self.rooms[room];
            let first = self.first_device[node.at()];
            let devices = devices.iter().fold(0, |devices, device| devices | 1 << (device - first));
            room.take(at, &self.shapes[at], &self.sorts[room.sort].offers[at], devices);
        }
    }

    /// The steps of all shapes; as many are placed as the rooms hold.
    pub(crate) fn pool(&self, rooms: &[Room]) -> Pool {
        let levels = self.shapes.iter().map(|shape| shape.tasks.iter().map(|&task| self.levels[task]).collect());
        let mut placed = vec![0; self.shapes.len()];
        rooms.iter().flat_map(|room| &room.items).for_each(|item| placed[item.shape as usize] += 1);
        Pool { levels: levels.collect(), placed, is_flat: self.is_flat }
    }

    /// Says, by task, where it is placed, of the shapes; the others are left as they are.
    pub(crate) fn leave(&self, rooms: &[Room], spots: &mut [Option<Spot>]) {
        let mut next = vec![0; self.shapes.len()];
        self.shapes.iter().flat_map(|shape| &shape.tasks).for_each(|&task| spots[task] = None);
        for room in rooms {
            let first = self.first_device[room.node.at()];
            for &Item { shape, devices } in &room.items {
                let task = self.shapes[shape as usize].tasks[next[shape as usize]];
                next[shape as usize] += 1;
                let devices = bits(devices).map(|device| first + device).collect();
                spots[task] = Some(Spot::on(0, room.node, devices));
            }
        }
    }
}

fn shapes(
    fleet: &Fleet,
    batch: &Batch,
    levels: &[u32],
    values: &[u64],
    may_move: impl Fn(usize) -> bool,
) -> Vec<Shape> {
    let simple: Vec<bool> = batch.requests.iter().map(|request| is_simple(fleet, request)).collect();
    let mut of_request: IndexMap<usize, Vec<usize>> = IndexMap::new();
    for (at, task) in batch.tasks.iter().enumerate().filter(|(at, task)| simple[task.request] && may_move(*at)) {
        of_request.entry(task.request).or_default().push(at);
    }
    let shape = |(request, mut tasks): (usize, Vec<usize>)| {
        let choice = &batch.requests[request].choices[0];
        tasks.sort_by_key(|&task| (levels[task], task));
        Shape {
            request,
            count: choice.count as usize,
            cpu_milli: choice.cpu_milli,
            memory_mib: choice.host_memory_mib,
            value: i64::try_from(values[request]).unwrap_or(i64::MAX),
            tasks,
        }
    };
    of_request.into_iter().map(shape).collect()
}

/// `known` has the offers of nodes that are alike but for their place, to all choices that may go anywhere.
fn sort(fleet: &Fleet, at: NodeIdx, choices: &[&Choice], known: &mut IndexMap<Digest, Vec<Offer>>) -> Sort {
    let (node, capacity) = (fleet.node(at), fleet.capacity());
    let all = || choices.iter().map(|choice| offer(fleet, at, choice)).collect();
    let offers = known.entry(node.digest).or_insert_with(all).clone();
    let here = |(choice, offered): (&&Choice, Offer)| {
        if choice.place.is_anywhere() { offered } else { offer(fleet, at, choice) }
    };
    Sort {
        offers: choices.iter().zip(offers).map(here).collect(),
        cpu_milli: capacity.free_cpu_milli[at.at()].unwrap_or(0), // unknown is no amount that could be taken
        memory_mib: capacity.free_memory_mib[at.at()].unwrap_or(0),
        free_milli: capacity.free_milli[node.devices.clone()].to_vec(),
    }
}

/// By the rules that do not change while a plan is made.
fn offer(fleet: &Fleet, at: NodeIdx, choice: &Choice) -> Offer {
    let (inventory, node) = (fleet.inventory(), fleet.node(at));
    let kinds = filter::kinds(inventory, choice);
    let fit = filter::on_node(inventory, node, choice, &kinds);
    let is_admitted = node.state == NodeState::Active
        && filter::elsewhere(node, choice).is_none()
        && filter::never(inventory, node, choice, &fit).is_none();
    if !is_admitted {
        return Offer::default();
    }
    let fitting = node.kinds.iter().filter(|run| fit[run.kind.at()].is_none());
    let run = |run: &hetero_core::inventory::Run| Run {
        start: run.devices.start - node.devices.start,
        end: run.devices.end - node.devices.start,
        share_milli: inventory.kinds[run.kind.at()].share_for(choice),
    };
    let runs = if choice.is_cpu_only() { Vec::new() } else { fitting.map(run).collect() };
    Offer { is_admitted, runs }
}
