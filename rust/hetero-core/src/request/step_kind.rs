//! What a step does, in a word.

use serde::{Deserialize, Serialize};

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // each is its own explanation
pub enum StepKind {
    Training,
    Inference,
    Preprocess,
    Dev,
}

impl StepKind {
    /// The word of a requirement.
    pub fn word(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Inference => "inference",
            Self::Preprocess => "preprocess",
            Self::Dev => "dev",
        }
    }
}
