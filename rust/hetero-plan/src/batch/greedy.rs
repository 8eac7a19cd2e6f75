//! One step after the other, by the rules of a single placement.

use hetero_core::request::Choice;
use hetero_core::spot::{Spot, find};
use hetero_core::{Fleet, Question, Result};

use crate::batch::ask::Batch;
use crate::batch::control::Control;

/// Places the tasks that are not placed yet, in the order of their levels, on one level what counts most first, and of several devices before all
/// else. A request that found no place finds none later: nothing is given back. It is what
/// every plan is built on, so only an interrupt ends it early.
pub(crate) fn greedy(
    fleet: &mut Fleet,
    batch: &Batch,
    (levels, values): (&[u32], &[u64]),
    spots: &mut [Option<Spot>],
    control: &Control<'_>,
) -> Result<()> {
    let mut order: Vec<usize> = (0..batch.tasks.len()).filter(|&task| spots[task].is_none()).collect();
    let devices = |choice: &Choice| choice.count + choice.groups.iter().map(|group| group.count).sum::<u32>();
    let is_one = |request: usize| devices(&batch.requests[request].choices[0]) < 2;
    order.sort_by_key(|&task| {
        let request = batch.tasks[task].request;
        (levels[task], is_one(request), std::cmp::Reverse(values[request]), task)
    });
    let mut has_failed = vec![false; batch.requests.len()];
    let question = Question::default();
    for task in order {
        let at = batch.tasks[task].request;
        if has_failed[at] || control.is_stopped() {
            continue;
        }
        let request = &batch.requests[at];
        match find(fleet, request, &question) {
            Some(spot) => {
                fleet.take_spot(request, &spot)?;
                spots[task] = Some(spot);
            }
            None => has_failed[at] = request.choices.iter().all(|choice| choice.min_score.is_none()),
        }
    }
    Ok(())
}
