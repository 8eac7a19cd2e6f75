//! The terms of the score of a cluster, in whole thousandths: one entry for each cluster that has devices for the choice.
//!
//! A term counts where clusters differ in it, load beside any other. What nobody states makes no difference.

use crate::cluster::offer::Able;
use crate::request::Choice;

/// Of each wish: more than price, load and weight together, so that nothing else is worth being far.
const LOCALITY: u64 = 50;
const PRICE: u64 = 20;
const LOAD: u64 = 15;
const WEIGHT: u64 = 10;
pub(super) const MILLI: u64 = 1000;

/// One term of one cluster.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) weight: u64,
    /// The value, in thousandths, times the weight.
    pub(super) points_milli: u64,
    /// What the value comes from.
    pub(super) why: String,
}

impl Part {
    fn of(name: &'static str, weight: u64, value_milli: u64, why: String) -> Self {
        Self { name, weight, points_milli: value_milli * weight, why }
    }
}

/// The wishes that are fulfilled.
pub(super) fn locality(able: &[Able<'_>], wishes: &[&str]) -> Vec<Part> {
    let part = |able: &Able<'_>| {
        let met: Vec<&str> = wishes.iter().copied().filter(|wish| able.cluster.is_near(wish)).collect();
        let why = if met.is_empty() { "far from all".to_owned() } else { format!("near {}", met.join(", ")) };
        let points_milli = met.len() as u64 * LOCALITY * MILLI;
        Part { name: "locality", weight: LOCALITY * wishes.len() as u64, points_milli, why }
    };
    able.iter().map(part).collect()
}

/// The cheapest cluster's price relative to this one's. What states none cannot be compared, so then nobody is.
pub(super) fn price(able: &[Able<'_>]) -> Vec<Part> {
    let prices: Option<Vec<u64>> = able.iter().map(|able| able.price_milli).collect();
    let prices = prices.unwrap_or_default();
    let cheapest = prices.iter().copied().min().unwrap_or(0);
    let part = |price: u64| {
        let value_milli = if price == cheapest { MILLI } else { part_of(cheapest, price) };
        Part::of("price", PRICE, value_milli, format!("from {} an hour", decimal(price)))
    };
    prices.into_iter().map(part).collect()
}

/// The free part of what could serve the choice.
pub(super) fn load(able: &[Able<'_>], choice: &Choice) -> Vec<Part> {
    let what = if choice.is_cpu_only() { "cores" } else { "devices" };
    let part = |able: &Able<'_>| {
        let (free, all) = (decimal(able.free_milli), decimal(able.all_milli));
        Part::of("load", LOAD, part_of(able.free_milli, able.all_milli), format!("{free} of {all} {what} are free"))
    };
    able.iter().map(part).collect()
}

/// The weight relative to the heaviest cluster's.
pub(super) fn weight(able: &[Able<'_>]) -> Vec<Part> {
    let most = able.iter().map(|able| able.cluster.weight_milli).max().unwrap_or(0);
    let part = |able: &Able<'_>| {
        let weight = able.cluster.weight_milli;
        Part::of("weight", WEIGHT, part_of(weight, most), format!("weight {}", decimal(weight)))
    };
    able.iter().map(part).collect()
}

/// Thousandths that a part is of a whole, rounded down; none of nothing.
fn part_of(part: u64, whole: u64) -> u64 {
    let milli = (u128::from(part) * u128::from(MILLI)).checked_div(u128::from(whole)).unwrap_or(0);
    u64::try_from(milli).unwrap_or(MILLI).min(MILLI)
}

/// Thousandths as a decimal number without needless zeros.
fn decimal(milli: u64) -> String {
    let text = format!("{}.{:03}", milli / MILLI, milli % MILLI);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wish_is_worth_more_than_all_the_rest() {
        const { assert!(LOCALITY > PRICE + LOAD + WEIGHT) };
    }

    #[test]
    fn a_part_is_at_most_the_whole() {
        assert_eq!(part_of(1, 3), 333);
        assert_eq!(part_of(0, 0), 0);
        assert_eq!(part_of(u64::MAX, u64::MAX), MILLI);
    }
}
