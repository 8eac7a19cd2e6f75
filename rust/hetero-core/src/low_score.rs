//! Candidates that score less than a choice asks for: refused like any other, node by node.

use crate::fleet::Fleet;
use crate::place::{Best, Question, best_of_each, best_of_node};
use crate::reason::Refusal;
use crate::request::{Choice, Request};
use crate::{filter, units::NodeIdx};

/// The candidates of a choice, best first, and the refusals of those that score too low.
///
/// Such a refusal is permanent where the node would score too low on an empty fleet as well.
pub(crate) fn sift(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
) -> (Vec<Best>, Vec<Refusal>) {
    let fit = filter::kinds_of(fleet, request, index, choice);
    let (good, low): (Vec<Best>, Vec<Best>) =
        best_of_each(fleet, choice, &fit, question).into_iter().partition(|best| best.is_good(choice));
    if low.is_empty() {
        return (good, Vec::new());
    }
    let empty = fleet.emptied();
    let fit = filter::kinds_of(&empty, request, index, choice);
    let is_ever_good =
        |node: NodeIdx| best_of_node(&empty, node, choice, &fit, question).is_some_and(|best| best.is_good(choice));
    let refusals = low.iter().map(|best| Refusal {
        node: best.node,
        misfit: best.too_low(choice),
        is_permanent: !is_ever_good(best.node),
    });
    (good, refusals.collect())
}
