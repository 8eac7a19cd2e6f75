//! The heaviest set of steps of which none comes before another: the most that may be in use at one time.
//!
//! Dilworth's theorem with weights: it weighs what all weigh together less the greatest flow from steps to steps after
//! them, each sending and taking at most its weight. The least cut names the set (König).

use std::collections::VecDeque;

/// Its weight and its members, of several such sets the latest; steps without weight are no members.
pub(crate) fn heaviest(weights: &[u64], is_before: impl Fn(usize, usize) -> bool) -> (u64, Vec<usize>) {
    if let [weight] = weights {
        return (*weight, (0..usize::from(*weight > 0)).collect());
    }
    let count = weights.len();
    let before = (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
    let before = before.map(|(one, other)| is_before(one, other)).collect();
    let mut flow = Flow { before, spare: weights.to_vec(), need: weights.to_vec(), sent: vec![0; count * count] };
    flow.send_at_once();
    let reach = loop {
        let reach = flow.reach();
        match reach.end {
            Some(end) => flow.send(&reach, end),
            None => break reach,
        }
    };
    let members: Vec<usize> =
        (0..count).filter(|&at| reach.senders[at].is_some() && reach.takers[at].is_none()).collect();
    (members.iter().map(|&at| weights[at]).sum(), members)
}

struct Flow {
    before: Vec<bool>,
    /// What each can still send, and still take.
    spare: Vec<u64>,
    need: Vec<u64>,
    sent: Vec<u64>,
}

/// How a sender was reached.
#[derive(Clone, Copy)]
enum From {
    Start,
    /// By taking back what it sent there.
    Taker(usize),
}

/// What can be reached from who can still send, and by what.
struct Reach {
    senders: Vec<Option<From>>,
    takers: Vec<Option<usize>>,
    /// A taker that can still take.
    end: Option<usize>,
}

impl Flow {
    /// Sends what can be sent without taking anything back: most of it, and quickly.
    fn send_at_once(&mut self) {
        let count = self.spare.len();
        for sender in 0..count {
            for taker in (0..count).filter(|taker| self.before[sender * count + taker]) {
                let most = self.spare[sender].min(self.need[taker]);
                self.spare[sender] -= most;
                self.need[taker] -= most;
                self.sent[sender * count + taker] += most;
            }
        }
    }

    fn reach(&self) -> Reach {
        let count = self.spare.len();
        let mut reach = Reach { senders: vec![None; count], takers: vec![None; count], end: None };
        let mut open: VecDeque<usize> = (0..count).filter(|&at| self.spare[at] > 0).collect();
        for &at in &open {
            reach.senders[at] = Some(From::Start);
        }
        while let Some(sender) = open.pop_front() {
            for taker in (0..count).filter(|&taker| self.before[sender * count + taker]) {
                if reach.takers[taker].is_some() {
                    continue;
                }
                reach.takers[taker] = Some(sender);
                if self.need[taker] > 0 {
                    return Reach { end: Some(taker), ..reach };
                }
                for other in (0..count).filter(|&other| self.sent[other * count + taker] > 0) {
                    if reach.senders[other].is_none() {
                        reach.senders[other] = Some(From::Taker(taker));
                        open.push_back(other);
                    }
                }
            }
        }
        reach
    }

    /// Sends as much as the way to the end allows.
    fn send(&mut self, reach: &Reach, end: usize) {
        let count = self.spare.len();
        let mut way = Vec::new(); // sender, taker, and the taker that the sender takes back from
        let mut taker = end;
        let mut most = self.need[end];
        while let Some(sender) = reach.takers[taker] {
            let back = reach.senders[sender].and_then(|from| match from {
                From::Taker(back) => Some(back),
                From::Start => None,
            });
            most = most.min(back.map_or(self.spare[sender], |back| self.sent[sender * count + back]));
            way.push((sender, taker, back));
            match back {
                Some(back) => taker = back,
                None => break,
            }
        }
        self.need[end] -= most;
        for (sender, taker, back) in way {
            self.sent[sender * count + taker] += most;
            match back {
                Some(back) => self.sent[sender * count + back] -= most,
                None => self.spare[sender] -= most,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dag::order::Order;

    #[test]
    fn of_two_branches_the_heavier_steps() {
        let mut order = Order::new(5); // 0 before 1, 2; 2 before 3; 4 alone
        for (one, other) in [(0, 1), (0, 2), (2, 3)] {
            order.put(one, other);
        }
        let found = heaviest(&[1, 2, 3, 8, 0], |one, other| order.is_before(one, other));
        assert_eq!(found, (10, vec![1, 3]));
        assert_eq!(heaviest(&[], |_, _| false), (0, vec![]));
        assert_eq!(heaviest(&[0], |_, _| false), (0, vec![]));
    }

    proptest! {
        #[test]
        fn none_is_heavier(
            edges in prop::collection::vec((0usize..9, 0usize..9), 0..20), weights in prop::collection::vec(0u64..5, 9)
        ) {
            let mut order = Order::new(9);
            edges.iter().filter(|(one, other)| one < other).for_each(|&(one, other)| order.put(one, other));
            let is_apart = |set: &[usize]| {
                set.iter().all(|&one| set.iter().all(|&other| !order.is_before(one, other)))
            };
            let sets = (0u32..1 << 9).map(|bits| (0..9).filter(|at| bits >> at & 1 == 1).collect::<Vec<usize>>());
            let weight = |set: &Vec<usize>| set.iter().map(|&at| weights[at]).sum::<u64>();
            let most = sets.filter(|set| is_apart(set)).map(|set| weight(&set)).max();
            let (found, members) = heaviest(&weights, |one, other| order.is_before(one, other));
            prop_assert_eq!(Some(found), most);
            prop_assert!(is_apart(&members));
            prop_assert_eq!(weight(&members), found);
        }
    }
}
