//! The nodes of one cluster with one model, of which some could give their part of a step once parties ended.

use std::collections::{BTreeMap, BTreeSet};

use crate::fleet::Fleet;
use crate::reason::refusal;
use crate::units::NodeIdx;
use crate::victims::Ask;
use crate::victims::bound::Opening;
use crate::victims::least::Limit;
use crate::victims::on_node::{Site, Sought, takes};
use crate::victims::party::{Cost, Party};

/// Which nodes open when which parties end, by places of both, as far as that was asked.
pub(super) type Known = BTreeMap<(usize, Vec<usize>), bool>;

/// What is to be opened: nodes, or domains of nodes where a step is to be spread over these.
pub(super) struct Region<'a> {
    /// Those that could open something.
    pub(super) parties: Vec<&'a Party>,
    /// By party: how many domains it could help to open.
    pub(super) opens: Vec<usize>,
    /// Domains that must open.
    pub(super) missing: usize,
    closed: Vec<Closed<'a>>,
    /// By place of a party: which of the closed nodes it is on.
    nodes_of: BTreeMap<usize, Vec<usize>>,
}

/// A node that cannot give its part now, and can once some end.
struct Closed<'a> {
    site: Site<'a>,
    /// The domain that it opens.
    domain: usize,
    /// Those of its parties whose end opens it at the least.
    first: Vec<&'a Party>,
    /// What that costs, where it was proven to be the least.
    least: Option<Cost>,
}

impl<'a> Region<'a> {
    /// `None` where too few nodes could give their part, whoever ended.
    pub(super) fn of(ask: Ask<'a>, sought: Sought<'_>, nodes: &[NodeIdx], trial: &mut Fleet) -> Option<Self> {
        let parties = ask.fleet.inventory().parties();
        let spread = sought.choice.place.spread;
        let domain = |node: NodeIdx| {
            let domains = ask.fleet.node(node).domains;
            spread.map_or(Some(node.at()), |spread| domains.of(spread).map(|number| number as usize))
        };
        let (mut open, mut shut) = (BTreeSet::new(), Vec::new());
        for &node in nodes {
            let Some(domain) = domain(node) else { continue };
            match refusal(ask.fleet, node, sought.choice, sought.fit) {
                None => {
                    open.insert(domain);
                }
                Some(refusal) if refusal.is_permanent => {}
                Some(_) => shut.push((node, domain)),
            }
        }
        shut.retain(|(_, domain)| !open.contains(domain));
        let closed: Vec<Closed<'_>> = shut
            .into_iter()
            .filter_map(|(node, domain)| {
                let here = parties.below_on(ask.priority, std::iter::once(node));
                Closed::of(Site::of(ask.fleet, node, here, sought)?, domain, sought, trial)
            })
            .collect();
        let domains: BTreeSet<usize> = closed.iter().map(|closed| closed.domain).collect();
        let missing = (sought.choice.peers as usize + 1).saturating_sub(open.len());
        if missing == 0 || domains.len() < missing {
            return None;
        }
        let mut of_party: BTreeMap<usize, (&Party, BTreeSet<usize>)> = BTreeMap::new();
        let mut nodes_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, closed) in closed.iter().enumerate() {
            for party in &closed.site.parties {
                of_party.entry(party.place).or_insert((party, BTreeSet::new())).1.insert(closed.domain);
                nodes_of.entry(party.place).or_default().push(at);
            }
        }
        let (parties, opens) = of_party.into_values().map(|(party, domains)| (party, domains.len())).unzip();
        Some(Self { parties, opens, missing, closed, nodes_of })
    }

    /// How many nodes could open, one at least.
    pub(super) fn nodes(&self) -> usize {
        self.closed.len()
    }

    /// How many domains may be opened: as many as are missing, then twice as many, and so on up to all.
    pub(super) fn needs(&self) -> impl Iterator<Item = usize> + use<> {
        let domains: BTreeSet<usize> = self.closed.iter().map(|closed| closed.domain).collect();
        let (missing, all) = (self.missing, domains.len());
        std::iter::successors(Some(missing), move |&need| (need < all).then(|| (need * 2).min(all)))
    }

    /// No set that makes room costs less: the cheapest domains, where parties count in equal parts for each domain that they
    /// could help to open.
    pub(super) fn bound(&self) -> Cost {
        let opens: BTreeMap<usize, usize> =
            self.parties.iter().map(|party| party.place).zip(self.opens.iter().copied()).collect();
        let mut of_domain: BTreeMap<usize, Cost> = BTreeMap::new();
        for closed in &self.closed {
            let least = closed.bound(|party| opens[&party.place]);
            let known = of_domain.entry(closed.domain).or_insert(least);
            *known = least.min(*known);
        }
        let mut each: Vec<Cost> = of_domain.into_values().collect();
        each.sort_unstable();
        each.into_iter().take(self.missing).fold(Cost::default(), Cost::plus)
    }

    /// The domains that open when parties end.
    pub(super) fn opened(
        &self,
        ending: &[&'a Party],
        sought: Sought<'_>,
        trial: &mut Fleet,
        known: &mut Known,
    ) -> BTreeSet<usize> {
        let mut by_node: BTreeMap<usize, Vec<&Party>> = BTreeMap::new();
        for &party in ending {
            for &at in self.nodes_of.get(&party.place).into_iter().flatten() {
                by_node.entry(at).or_default().push(party);
            }
        }
        let mut opened = BTreeSet::new();
        for (at, here) in by_node {
            let closed = &self.closed[at];
            if opened.contains(&closed.domain) {
                continue;
            }
            let mut places: Vec<usize> = here.iter().map(|party| party.place).collect();
            places.sort_unstable();
            let is_open = known.entry((at, places)).or_insert_with(|| takes(trial, closed.site.node, &here, sought));
            if *is_open {
                opened.insert(closed.domain);
            }
        }
        opened
    }

    /// Parties that open so many domains, by their places: node after node is opened, the one that costs least for each
    /// domain that opens with it; what ends already costs nothing more.
    pub(super) fn greedy(&self, need: usize, opened: &mut impl FnMut(&[&'a Party]) -> BTreeSet<usize>) -> Vec<usize> {
        let (mut ending, mut open): (Vec<&Party>, BTreeSet<usize>) = (Vec::new(), BTreeSet::new());
        while open.len() < need {
            let mut cheapest: Option<(Cost, Vec<&Party>, BTreeSet<usize>)> = None;
            for closed in self.closed.iter().filter(|closed| !open.contains(&closed.domain)) {
                let is_new = |party: &&&Party| ending.iter().all(|other| other.place != party.place);
                let more: Vec<&Party> = closed.first.iter().filter(is_new).copied().collect();
                let cost = more.iter().map(|party| party.cost).fold(Cost::default(), Cost::plus);
                if cheapest.as_ref().is_some_and(|(least, ..)| cost.part_of(need - open.len()) >= *least) {
                    continue; // even if it opened all
                }
                let with: Vec<&Party> = ending.iter().chain(&more).copied().collect();
                let opens = opened(&with);
                let gain = opens.len().min(need).saturating_sub(open.len());
                let each = cost.part_of(gain);
                if gain > 0 && cheapest.as_ref().is_none_or(|(least, ..)| each < *least) {
                    cheapest = Some((each, with, opens));
                }
            }
            let Some((_, with, opens)) = cheapest else { break };
            (ending, open) = (with, opens);
        }
        let ends: BTreeSet<usize> = ending.iter().map(|party| party.place).collect();
        (0..self.parties.len()).filter(|&at| ends.contains(&self.parties[at].place)).collect()
    }
}

impl<'a> Closed<'a> {
    /// `None` where the node stays closed, whoever ends.
    fn of(site: Site<'a>, domain: usize, sought: Sought<'_>, trial: &mut Fleet) -> Option<Self> {
        let beyond = Limit { cost: Cost::BEYOND, is_included: false };
        let (least, is_least) = site.least(beyond, sought, trial);
        let least = least?;
        let first = least.chosen.iter().map(|&at| site.parties[at]).collect();
        Some(Self { site, domain, first, least: is_least.then_some(least.cost) })
    }

    /// What opening costs at least where each party counts in so many equal parts.
    fn bound(&self, parts: impl Fn(&Party) -> usize) -> Cost {
        let is_whole = self.site.parties.iter().all(|party| parts(party) == 1);
        if let Some(least) = self.least.filter(|_| is_whole) {
            return least;
        }
        let costs: Vec<Cost> = self.site.parties.iter().map(|party| party.cost.part_of(parts(party))).collect();
        let opening = Opening::of(&costs, self.site.opening.held.clone(), self.site.missing);
        let opened = opening.map_or(Cost::BEYOND, |opening| opening.bound);
        opened.max(costs.into_iter().min().unwrap_or(Cost::BEYOND))
    }
}
