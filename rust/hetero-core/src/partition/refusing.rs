//! Why a choice is refused, where a device might be cut for it some day: such a refusal passes.

use indexmap::IndexMap;

use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::partition::cut::{Search, is_for_partitions};
use crate::place::Question;
use crate::reason::{self, Refusal};
use crate::request::{Choice, Request};

/// All refusals of a choice, as [`reason::refusals`]; none is permanent on a node that a cut could make serve it, once empty.
pub(crate) fn refusals(
    fleet: &Fleet,
    (request, index): (&Request, usize),
    choice: &Choice,
    question: &Question,
    (fit, low): (&[Option<Misfit>], &[Refusal]),
) -> Vec<Refusal> {
    let mut refusals = reason::refusals(fleet, choice, fit, low);
    let is_open = !fleet.inventory().cuts.is_empty() && is_for_partitions(choice);
    if is_open && refusals.iter().any(|refusal| refusal.is_permanent) {
        let empty = fleet.emptied();
        let mut search = Search::new(&empty, request, index, choice, question);
        let mut by_state = IndexMap::new();
        for refusal in refusals.iter_mut().filter(|refusal| refusal.is_permanent) {
            if filter::elsewhere(empty.node(refusal.node), choice).is_none() {
                let state = empty.states().index(refusal.node);
                let serves = by_state.entry(state).or_insert_with(|| !search.on_node(refusal.node).is_empty());
                refusal.is_permanent = !*serves;
            }
        }
    }
    refusals
}
