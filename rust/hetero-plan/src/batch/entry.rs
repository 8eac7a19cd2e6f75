//! From contents of nodes to rooms with steps in them.

use crate::batch::columns::Columns;
use crate::batch::field::Field;
use crate::batch::pattern::Pattern;
use crate::batch::pool::Pool;
use crate::batch::room::{Offer, Room};

/// Rooms filled by the patterns.
pub(crate) fn rounded(field: &Field, columns: &Columns) -> Vec<Room> {
    let new = |room: &Room| Room::new(room.node, room.sort, &field.sorts[room.sort]);
    let mut rooms: Vec<Room> = field.rooms.iter().map(new).collect();
    let mut free: Vec<Vec<usize>> = vec![Vec::new(); field.sorts.len()];
    rooms.iter().enumerate().rev().for_each(|(at, room)| free[room.sort].push(at));
    let mut pool = field.pool(&[]);
    for (sort, pattern) in &columns.taken {
        if let Some(at) = free[*sort].pop() {
            enter(field, columns, pattern, &mut rooms[at], &mut pool);
        }
    }
    rooms
}

/// Puts a pattern into an empty room.
fn enter(field: &Field, columns: &Columns, pattern: &Pattern, room: &mut Room, pool: &mut Pool) {
    let sort = &field.sorts[room.sort];
    let mut put = |room: &mut Room, class: usize, devices: &dyn Fn(&Room, &Offer) -> Option<u128>| {
        let shapes = &columns.classes[class].shapes;
        let Some(&shape) = shapes.iter().find(|&&shape| pool.waiting(shape) > 0) else { return };
        let asked = &field.shapes[shape];
        let fits = room.memory_mib >= asked.memory_mib && room.cpu_milli >= asked.cpu_milli;
        if let Some(devices) = devices(room, &sort.offers[shape]).filter(|_| fits) {
            room.take(shape, asked, &sort.offers[shape], devices);
            pool.placed[shape] += 1;
        }
    };
    let first = |class: usize| columns.classes[class].shapes[0];
    for &class in &pattern.several {
        let shape = &field.shapes[first(class)];
        put(room, class, &|room, offer| room.fit(shape, offer).map(|(_, devices)| devices));
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
