//! By how much a policy allocates more than another: seed by seed, so that what all policies share cancels out.

use indexmap::IndexMap;
use serde::Serialize;

use crate::run::{Run, rounded};

/// The mean of a difference, and the interval that holds the true mean in 95 of 100 such measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Mean over the seeds.
    pub mean: f64,
    /// Lower end; `None` for a single seed, which says nothing of the spread.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// How a policy compares with the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The policy.
    pub policy: String,
    /// What it is compared with.
    pub against: String,
    /// Seeds that both ran with.
    pub seeds: usize,
    /// Allocated ratio less that of the baseline, by arrived demand.
    pub allocated_ratio: IndexMap<String, Interval>,
}

/// Every policy but the baseline, in the order of the runs.
pub(crate) fn differences(runs: &[Run], against: &str) -> Vec<Difference> {
    let of = |policy: &str, seed: u64| runs.iter().find(|run| run.policy == policy && run.seed == seed);
    let mut policies: Vec<&str> = Vec::new();
    for run in runs {
        if run.policy != against && !policies.contains(&run.policy.as_str()) {
            policies.push(&run.policy);
        }
    }
    let compared = |policy: &str| {
        let own = runs.iter().filter(|run| run.policy == policy);
        let pairs: Vec<(&Run, &Run)> = own.filter_map(|run| Some((run, of(against, run.seed)?))).collect();
        let levels = pairs.first().map_or(Vec::new(), |(run, _)| run.allocated_ratio.keys().cloned().collect());
        let of_level = |level: String| {
            let values: Vec<f64> =
                pairs.iter().map(|(a, b)| a.allocated_ratio[&level] - b.allocated_ratio[&level]).collect();
            (level, interval(&values))
        };
        Difference {
            policy: policy.to_owned(),
            against: against.to_owned(),
            seeds: pairs.len(),
            allocated_ratio: levels.into_iter().map(of_level).collect(),
        }
    };
    policies.into_iter().map(compared).collect()
}

/// Student's interval of a mean.
fn interval(values: &[f64]) -> Interval {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return Interval { mean: rounded(mean), low: None, high: None };
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = quantile(values.len() - 1) * (variance / count).sqrt();
    Interval { mean: rounded(mean), low: Some(rounded(mean - half)), high: Some(rounded(mean + half)) }
}

/// 97.5 % of Student's distribution lie below this, by degrees of freedom: the table, then the expansion of Peiser,
/// which is right to three decimals from there on.
fn quantile(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    const NORMAL: f64 = 1.959_964;
    if let Some(&quantile) = TABLE.get(freedom - 1) {
        return quantile;
    }
    let (n, z) = (freedom as f64, NORMAL);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / n + second / (n * n) + third / (n * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_published_table() {
        for (freedom, expected) in
            [(1, 12.706), (9, 2.262), (10, 2.228), (11, 2.201), (20, 2.086), (39, 2.023), (120, 1.980)]
        {
            assert!((quantile(freedom) - expected).abs() < 1e-3, "{freedom}: {}", quantile(freedom));
        }
    }

    #[test]
    fn an_interval_by_hand() {
        // mean 2, standard deviation 1, of three: 4.303 / sqrt(3) = 2.484
        let found = interval(&[1.0, 2.0, 3.0]);
        assert!((found.mean - 2.0).abs() < 1e-9);
        assert!(
            (found.low.expect("several") + 0.484).abs() < 1e-3 && (found.high.expect("several") - 4.484).abs() < 1e-3
        );
        assert_eq!(interval(&[0.5]), Interval { mean: 0.5, low: None, high: None });
        assert_eq!(interval(&[0.5, 0.5]), Interval { mean: 0.5, low: Some(0.5), high: Some(0.5) });
    }
}
