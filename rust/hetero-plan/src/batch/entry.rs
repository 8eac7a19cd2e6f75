//! From contents by class to rooms with steps: which of the shapes of a class goes where, so that host memory suffices.

use std::cmp::Reverse;

use crate::batch::columns::Columns;
use crate::batch::field::Field;
use crate::batch::pattern::Pattern;
use crate::batch::pool::Pool;
use crate::batch::room::{Offer, Room};

/// Rooms filled by the patterns. What host memory has no place for is left out.
///
/// Of every class those that need least memory are taken. Those that need most are seated first, each where most memory is
/// left when all other seats get the least that their class needs.
pub(crate) fn rounded(field: &Field, columns: &Columns) -> Vec<Room> {
    let mut rooms: Vec<Room> =
        field.rooms.iter().map(|room| Room::new(room.node, room.sort, &field.sorts[room.sort])).collect();
    let patterns = assign(field, columns, &rooms);
    let seats = seated(field, columns, &rooms, &patterns);
    let mut pool = field.pool(&[]);
    for ((room, pattern), mut seats) in rooms.iter_mut().zip(patterns).zip(seats) {
        if let Some(pattern) = pattern {
            enter(field, columns, pattern, room, &mut seats, &mut pool);
        }
    }
    rooms
}

/// By room: the pattern that it gets.
fn assign<'a>(field: &Field, columns: &'a Columns, rooms: &[Room]) -> Vec<Option<&'a Pattern>> {
    let mut free: Vec<Vec<usize>> = vec![Vec::new(); field.sorts.len()];
    rooms.iter().enumerate().rev().for_each(|(at, room)| free[room.sort].push(at));
    let mut patterns = vec![None; rooms.len()];
    for (sort, pattern) in &columns.taken {
        if let Some(at) = free[*sort].pop() {
            patterns[at] = Some(pattern);
        }
    }
    patterns
}

/// By room: classes and the shape that stands for each of their seats there.
fn seated(field: &Field, columns: &Columns, rooms: &[Room], patterns: &[Option<&Pattern>]) -> Vec<Vec<(usize, usize)>> {
    let memory = |shape: usize| field.shapes[shape].memory_mib;
    let least: Vec<u64> = columns
        .classes
        .iter()
        .map(|class| class.shapes.iter().map(|&shape| memory(shape)).min().unwrap_or(0))
        .collect();
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); columns.classes.len()];
    let mut left: Vec<i64> = rooms.iter().map(|room| signed(room.memory_mib)).collect();
    for (at, pattern) in patterns.iter().enumerate() {
        for class in pattern.iter().flat_map(|pattern| pattern.classes()) {
            open[class].push(at);
            left[at] -= signed(least[class]);
        }
    }
    let mut steps: Vec<(Reverse<u64>, usize, usize)> = Vec::new();
    for (at, class) in columns.classes.iter().enumerate() {
        let mut shapes = class.shapes.clone();
        shapes.sort_by_key(|&shape| (memory(shape), shape));
        let all = shapes.into_iter().flat_map(|shape| std::iter::repeat_n(shape, field.shapes[shape].tasks.len()));
        steps.extend(all.take(open[at].len()).map(|shape| (Reverse(memory(shape) - least[at]), at, shape)));
    }
    steps.sort_unstable();
    let mut seats = vec![Vec::new(); rooms.len()];
    for (Reverse(extra), class, shape) in steps {
        let roomy = (0..open[class].len()).max_by_key(|&seat| (left[open[class][seat]], Reverse(open[class][seat])));
        let Some(seat) = roomy.filter(|&seat| left[open[class][seat]] >= signed(extra)) else { continue };
        let room = open[class].swap_remove(seat);
        left[room] -= signed(extra);
        seats[room].push((class, shape));
    }
    seats
}

/// Puts a pattern into an empty room. A seat that is nobody's gets a shape that waits and fits, if any does.
fn enter(
    field: &Field,
    columns: &Columns,
    pattern: &Pattern,
    room: &mut Room,
    seats: &mut Vec<(usize, usize)>,
    pool: &mut Pool,
) {
    let sort = &field.sorts[room.sort];
    let mut put = |room: &mut Room, class: usize, devices: &dyn Fn(&Room, &Offer) -> Option<u128>| {
        let fits = |shape: usize| {
            let shape = &field.shapes[shape];
            room.memory_mib >= shape.memory_mib && room.cpu_milli >= shape.cpu_milli
        };
        let seat =
            seats.iter().position(|(of, shape)| *of == class && fits(*shape)).map(|seat| seats.swap_remove(seat).1);
        let able =
            || columns.classes[class].shapes.iter().copied().filter(|&shape| pool.waiting(shape) > 0 && fits(shape));
        let lightest = || able().min_by_key(|&shape| (field.shapes[shape].memory_mib, shape));
        let Some(shape) = seat.filter(|&shape| pool.waiting(shape) > 0).or_else(lightest) else { return };
        if let Some(devices) = devices(room, &sort.offers[shape]) {
            room.take(shape, &field.shapes[shape], &sort.offers[shape], devices);
            pool.placed[shape] += 1;
        }
    };
    let first = |class: usize| columns.classes[class].shapes[0];
    for &class in &pattern.several {
        let shape = &field.shapes[first(class)];
        put(room, class, &|room, offer| room.devices(shape, offer));
    }
    let mut used: u128 = room.items.iter().fold(0, |used, item| used | item.devices);
    for (start, free, content) in &pattern.shared {
        let is_such = |at: &usize| used & (1 << at) == 0 && sort.free_milli[*at] == *free;
        let mut runs = content.iter().flat_map(|&class| &sort.offers[first(class)].runs);
        let end = runs.find(|run| run.start == *start).map_or(*start, |run| run.end);
        let Some(at) = (*start..end).find(is_such) else { continue };
        used |= 1 << at;
        for &class in content {
            put(room, class, &|room, offer| {
                let run = offer.runs.iter().find(|run| (run.start..run.end).contains(&at))?;
                (room.free_milli[at] >= run.share_milli).then_some(1 << at)
            });
        }
    }
    for &class in &pattern.hosted {
        put(room, class, &|_, _| Some(0));
    }
}

fn signed(mib: u64) -> i64 {
    i64::try_from(mib).unwrap_or(i64::MAX)
}
