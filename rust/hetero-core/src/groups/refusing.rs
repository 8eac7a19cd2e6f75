//! Why a step with groups cannot be placed, node by node.

use crate::codes::Code;
use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::groups::search::{Ask, on_node};
use crate::groups::{Joint, best, members};
use crate::place::Question;
use crate::reason::{Refusal, refusal};
use crate::request::{Choice, Nearness, Request};
use crate::units::NodeIdx;

/// The best way, or why there is none that scores as asked: a refusal for every node.
pub(crate) fn decide(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
) -> Result<Joint, Vec<Refusal>> {
    match best(fleet, request, index, choice, question) {
        Some(joint) if joint.is_good(choice) => Ok(joint),
        _ => Err(considered(fleet, request, index, choice, question).1),
    }
}

/// The best way on every node that has room for all groups, best first, and why the others have none.
///
/// Where the groups lie on several nodes, that way is the only one told, and no node refuses it.
pub(crate) fn considered(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
) -> (Vec<Joint>, Vec<Refusal>) {
    let members = &members(choice, question.policy);
    let ask = Ask { request, index, choice, members, question };
    let apart = best(fleet, request, index, choice, question).filter(|joint| joint.nodes().len() > 1);
    if let Some(joint) = apart.as_ref().filter(|joint| joint.is_good(choice)) {
        return (vec![joint.clone()], Vec::new());
    }
    let mut now = Judge::new(fleet, ask);
    let (mut good, mut refusals, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for node in (0..fleet.inventory().nodes.len()).map(NodeIdx::new) {
        if let Some(misfit) = filter::elsewhere(fleet.node(node), choice) {
            refusals.push(Refusal { node, misfit, is_permanent: !misfit.is_passing });
            continue;
        }
        match now.on(node) {
            Ok(joint) if joint.is_good(choice) => good.push(joint.on(node, fleet)),
            Ok(joint) => refused.push((node, too_low(joint, choice))),
            Err(misfit) => refused.push((node, *misfit)),
        }
    }
    if !refused.is_empty() {
        let empty = fleet.emptied();
        let at_best = best(&empty, request, index, choice, question);
        let of_step = OfStep { low: apart.as_ref().map(|joint| too_low(joint, choice)), at_best: at_best.as_ref() };
        let mut ever = Judge::new(&empty, ask);
        let hopeless = ever.hopeless();
        for (node, misfit) in refused {
            let of_hopeless = hopeless.filter(|_| misfit.code != Code::ScoreTooLow);
            let refusal = of_hopeless.and_then(|group| now.alone(node).swap_remove(group));
            refusals.push(refusal.unwrap_or_else(|| because(ask, &now, ever.on(node), (node, misfit), &of_step)));
        }
        refusals.sort_by_key(|refusal| refusal.node);
    }
    good.sort_by(Joint::order); // stable: ties keep the order of the nodes
    (good, refusals)
}

/// The answers of the nodes of a fleet, those in the same state asked once.
struct Judge<'a> {
    fleet: &'a Fleet,
    trial: Fleet,
    ask: Ask<'a>,
    by_state: Vec<Option<Result<Joint, Misfit>>>,
}

impl<'a> Judge<'a> {
    fn new(fleet: &'a Fleet, ask: Ask<'a>) -> Self {
        Self { fleet, trial: fleet.trial(), ask, by_state: vec![None; fleet.states().len()] }
    }

    /// The best way on a node in the state of this one.
    fn on(&mut self, node: NodeIdx) -> &Result<Joint, Misfit> {
        let known = &mut self.by_state[self.fleet.states().index(node)];
        known.get_or_insert_with(|| on_node(&mut self.trial, self.ask, node))
    }

    /// The first group that no node could ever serve.
    fn hopeless(&self) -> Option<usize> {
        let states = self.fleet.states();
        let meant = |node: NodeIdx| filter::elsewhere(self.fleet.node(node), self.ask.choice).is_none();
        let alone: Vec<_> = states.representatives_of(meant).map(|node| self.alone(node)).collect();
        let is_never = |group: &usize| alone.iter().all(|of_node| of_node[*group].is_some_and(|r| r.is_permanent));
        (0..self.ask.members.len()).find(is_never)
    }

    /// Why groups find no place on a node, each for itself; nothing of those that do.
    fn alone(&self, node: NodeIdx) -> Vec<Option<Refusal>> {
        let fit = |member: &Choice| filter::kinds_of(self.fleet, self.ask.request, self.ask.index, member);
        let refused = |(at, member): (usize, &Choice)| {
            let refused = refusal(self.fleet, node, member, &fit(member))?;
            Some(Refusal { misfit: Misfit { group: u16::try_from(at).ok(), ..refused.misfit }, ..refused })
        };
        self.ask.members.iter().enumerate().map(refused).collect()
    }
}

/// What is so of the step as a whole.
struct OfStep<'a> {
    /// Over several nodes it would fit, but scores too low.
    low: Option<Misfit>,
    /// The best way on an empty fleet.
    at_best: Option<&'a Joint>,
}

/// Why a node does not serve; `on_empty` is what it would be on an empty fleet.
fn because(
    ask: Ask<'_>,
    now: &Judge<'_>,
    on_empty: &Result<Joint, Misfit>,
    (node, misfit): (NodeIdx, Misfit),
    of_step: &OfStep<'_>,
) -> Refusal {
    if misfit.code == Code::ScoreTooLow {
        let is_ever_good = on_empty.as_ref().is_ok_and(|joint| joint.is_good(ask.choice));
        return Refusal { node, misfit, is_permanent: !is_ever_good };
    }
    let Err(never) = on_empty else { return Refusal { node, misfit, is_permanent: false } };
    let alone = now.alone(node);
    let may_part = ask.choice.nearness.is_some_and(|nearness| nearness > Nearness::Node);
    let takes_none = alone.iter().all(|refused| refused.is_some_and(|refused| refused.is_permanent));
    if !may_part || takes_none {
        let of_one = alone.into_iter().flatten().find(|refused| refused.is_permanent);
        return of_one.unwrap_or(Refusal { node, misfit: *never, is_permanent: true });
    }
    // It could give a part: why that is busy, or that the others find no place near it, or none that is good enough.
    if let Some(misfit) = of_step.low {
        let is_ever_good = of_step.at_best.is_some_and(|joint| joint.is_good(ask.choice));
        return Refusal { node, misfit, is_permanent: !is_ever_good };
    }
    let is_permanent = of_step.at_best.is_none();
    let busy = alone.into_iter().flatten().find(|refused| !refused.is_permanent && !is_permanent);
    busy.unwrap_or(Refusal { node, misfit: Misfit::of(Code::GroupsApart), is_permanent })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a score is 0 to 100
fn too_low(joint: &Joint, choice: &Choice) -> Misfit {
    let (have, want) = (Some(joint.total as u64), choice.min_score.map(u64::from));
    Misfit { have, want, ..Misfit::of(Code::ScoreTooLow) }
}
