//! The policies by name.

use hetero_core::{Error, Result};

/// A way to choose the node and the devices of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Any node where the task fits, any device of it.
    Random,
    /// The first node where the task fits.
    FirstFit,
    /// The node with least left.
    BestFit,
    /// The node with most left.
    WorstFit,
    /// The node whose free resources are least like what is asked: that leaves the larger ones alone.
    DotProduct,
    /// Shared devices before idle ones, used nodes before idle ones.
    GpuPacking,
    /// Nodes that run tasks of the same kind.
    GpuClustering,
    /// Where fragmentation grows least.
    Fgd,
    /// That of hetero-core.
    Aware,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Random,
        Self::FirstFit,
        Self::BestFit,
        Self::WorstFit,
        Self::DotProduct,
        Self::GpuPacking,
        Self::GpuClustering,
        Self::Fgd,
        Self::Aware,
    ];

    /// The word that a person writes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::FirstFit => "first-fit",
            Self::BestFit => "best-fit",
            Self::WorstFit => "worst-fit",
            Self::DotProduct => "dot-product",
            Self::GpuPacking => "gpu-packing",
            Self::GpuClustering => "gpu-clustering",
            Self::Fgd => "fgd",
            Self::Aware => "aware",
        }
    }

    /// Reads a word; an unknown one is told what it may have meant.
    pub fn parse(word: &str) -> Result<Self> {
        let known = || Self::ALL.iter().copied();
        known().find(|policy| policy.word() == word).ok_or_else(|| {
            let likeness = |policy: Self| strsim::damerau_levenshtein(word, policy.word());
            let near = known().min_by_key(|&policy| likeness(policy)).filter(|&policy| likeness(policy) <= 3);
            let hint = near.map_or(String::new(), |near| format!("did you mean {:?}? ", near.word()));
            let all = Self::ALL.map(Self::word).join(", ");
            Error::InvalidRequest { message: format!("unknown policy {word:?}; {hint}There are {all}") }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back() {
        for policy in Policy::ALL {
            assert_eq!(Policy::parse(policy.word()), Ok(policy));
        }
    }

    #[test]
    fn an_unknown_word_is_told_the_nearest() {
        let told = |word| Policy::parse(word).expect_err("unknown").to_string();
        assert!(told("fdg").starts_with("unknown policy \"fdg\"; did you mean \"fgd\"? There are random, first-fit,"));
        assert!(told("bestfit").contains("did you mean \"best-fit\"?"));
        assert!(told("genetic-algorithm").starts_with("unknown policy \"genetic-algorithm\"; There are random,"));
    }
}
