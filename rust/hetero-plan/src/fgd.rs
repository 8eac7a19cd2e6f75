//! Fragmentation gradient descent: where the least share of the node becomes useless to the mix.
//!
//! The score is 100 x sigmoid of the fall in fragmentation, in devices, rounded down: 50 where nothing changes.

use hetero_core::fragmentation::weighted_unusable;
use hetero_core::inventory::Node;
use hetero_core::mix::Mix;

use crate::score::{Ask, Free};

/// The best that a node offers, and the device for it where a share is asked.
///
/// `before` is the node's weighted fragmentation now. Devices are tried in their order, the first of the best counts; of
/// devices with the same free share one is enough. Whole devices of a node are all alike.
pub(crate) fn best(node: &Node, mix: &Mix, ask: Ask, free: &Free<'_>, before: u64) -> (i64, Option<usize>) {
    let mut after = free.milli.to_vec();
    let cpu_milli = node.cpu_milli.map(|_| free.cpu_milli - ask.cpu_milli);
    if ask.group() != Some(0) {
        for &at in free.usable.iter().take(ask.count as usize) {
            after[at] -= ask.share_milli;
        }
        return (score(before, weighted_unusable(node, &after, cpu_milli, mix), mix.total_weight), None);
    }
    let mut best: Option<(i64, usize)> = None;
    for (i, &at) in free.usable.iter().enumerate() {
        if free.usable[..i].iter().any(|&other| free.milli[other] == free.milli[at]) {
            continue;
        }
        after[at] -= ask.share_milli;
        let here = score(before, weighted_unusable(node, &after, cpu_milli, mix), mix.total_weight);
        after[at] = free.milli[at];
        if best.is_none_or(|(best, _)| here > best) {
            best = Some((here, at));
        }
    }
    best.map_or((0, None), |(score, at)| (score, Some(at)))
}

#[allow(clippy::cast_possible_truncation)] // between 0 and 100
fn score(before: u64, after: u64, total_weight: u64) -> i64 {
    let fall = (before as f64 - after as f64) / (total_weight.max(1) as f64 * 1000.0);
    (100.0 / (1.0 + (-fall).exp())) as i64
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn scores_by_hand() {
        // sigmoid(0) = 0.5, sigmoid(1) = 0.7310..., sigmoid(-0.5) = 0.3775..., of weights that add up to 10
        assert_eq!(score(20_000, 20_000, 10), 50);
        assert_eq!(score(20_000, 10_000, 10), 73);
        assert_eq!(score(20_000, 25_000, 10), 37);
    }
}
