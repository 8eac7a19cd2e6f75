//! The best candidate as a placement.

use crate::decision::{Grant, Granted, Performance, Placement, Reason, Verdict};
use crate::digest::{Hasher, hex};
use crate::fleet::Fleet;
use crate::place::{Best, Question};
use crate::request::{Choice, Request};
use crate::score::{penalties, performance, round};
use crate::sharing::Sharing;
use crate::units::share_of;
use crate::{gang, victims};

pub(crate) fn placement(
    fleet: &Fleet,
    request: &Request,
    question: &Question,
    index: usize,
    choice: &Choice,
    best: &Best,
    reasons: Vec<Reason>,
) -> Placement {
    let node = fleet.node(best.node);
    Placement {
        verdict: if index == 0 { Verdict::Placed } else { Verdict::Degraded },
        requirement: request.requirement.clone(),
        choice: choice.label.clone(),
        choice_index: index,
        policy: question.policy.word().to_owned(),
        score: round(best.total),
        terms: best.values.terms(fleet, choice, best.candidate(), question),
        penalties: penalties(fleet, best.candidate(), question.policy),
        cluster: node.cluster.clone(),
        cluster_score: None,
        nodes: vec![node.name.clone()],
        devices: grants(fleet, choice, best),
        granted: granted(fleet, choice, best),
        groups: Vec::new(),
        cut: None,
        notes: Vec::new(),
        precision: choice.precisions.first().map(|need| need.word.clone()),
        quantize: choice.quantize.clone(),
        cpu_milli: choice.cpu_milli,
        memory_mib: choice.host_memory_mib,
        share_memory_mib: choice.share_memory_mib.filter(|_| choice.is_share()),
        bound: choice.bound.filter(|_| choice.is_share()),
        team: request.team.clone(),
        pool: pool_of(fleet, choice, best),
        reasons,
        performance: match index {
            0 => Performance { ratio: Some(1.0), source: "first choice".to_owned() },
            _ => performance::relative(fleet, &request.choices[0], choice, best.candidate()),
        },
        mix: fleet.mix().document.source.clone(),
        reserved: false,
        trace_id: trace_id(fleet, request, question),
    }
}

/// The pool that a choice is charged to there.
pub(crate) fn pool_of(fleet: &Fleet, choice: &Choice, best: &Best) -> Option<String> {
    let node = fleet.node(best.node);
    let pool = fleet.pools().charged(node, choice)?;
    fleet.pools().name(node, pool).map(str::to_owned)
}

pub(crate) fn grants(fleet: &Fleet, choice: &Choice, best: &Best) -> Vec<Grant> {
    let inventory = fleet.inventory();
    let grant = |&at: &usize| Grant {
        node: fleet.node(best.node).name.clone(),
        id: inventory.devices[at].id,
        uuid: inventory.devices[at].uuid.clone(),
        share_milli: inventory.kinds[inventory.devices[at].kind.at()].share_for(choice),
        free_milli: fleet.capacity().free_milli[at],
    };
    let mut grants: Vec<Grant> = best.devices.iter().map(grant).collect();
    grants.sort_by_key(|grant| grant.id);
    grants
}

pub(crate) fn granted(fleet: &Fleet, choice: &Choice, best: &Best) -> Option<Granted> {
    let (inventory, first) = (fleet.inventory(), *best.devices.first()?);
    let kind = &inventory.kinds[inventory.devices[first].kind.at()];
    Some(Granted {
        sku: kind.sku.clone(),
        vendor: kind.vendor.clone(),
        model: kind.model.clone(),
        class: kind.class,
        partition: kind.partition.clone(),
        memory_mib: kind.usable_mib.map(|usable| {
            let by_share = share_of(usable, u64::from(kind.share_for(choice)));
            choice.share_memory_mib.map_or(by_share, |asked| asked.min(usable))
        }),
        sharing: Sharing::of(kind, choice, fleet.capacity().neighbours(first)),
    })
}

/// Digest of everything the answer follows from: the same question has the same id.
pub(crate) fn trace_id(fleet: &Fleet, request: &Request, question: &Question) -> String {
    let weights = &question.weights;
    let digest = Hasher::new("trace")
        .text(&request.requirement)
        .bytes(&fleet.digest())
        .bytes(&fleet.mix().digest)
        .number(u64::from(weights.performance))
        .number(u64::from(weights.topology))
        .number(u64::from(weights.fragmentation))
        .number(u64::from(weights.power))
        .text(&fleet.profiles().digest)
        .text(question.policy.word())
        .number(question.seed)
        .text(&question.key);
    let digest = victims::digested(fleet, request, gang::digested(fleet, request, question, digest));
    let digest = fleet.quotas().digested(request.team.as_deref(), digest);
    let kept = request.choices.iter().find_map(|choice| choice.place.checkpoint.as_ref());
    let digest = kept.map_or(digest.clone(), |location| digest.text("kept").text(location));
    let digest = fleet.pools().digested(request.priority, digest);
    hex(fleet.measured().digested(request, digest).finish())
}
