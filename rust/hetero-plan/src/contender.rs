//! What takes part in a replay: a rule under a name.

use std::sync::Arc;

use hetero_core::Result;
use hetero_core::score::Weights;

use crate::baseline::Baseline;
use crate::guest::{Foreign, Guest};
use crate::occupancy::Occupancy;
use crate::policy::Policy;
use crate::tenants::Tenants;
use crate::trace::Trace;
use crate::world::World;

/// A rule, under the name that it has in the report.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The name.
    pub name: String,
    /// The rule.
    pub rule: Rule,
}

/// How nodes and devices are chosen.
#[derive(Clone, Debug)]
pub enum Rule {
    /// One that is built in. [`Policy::Aware`] gets the mix of the whole trace.
    BuiltIn(Policy),
    /// That of hetero-core, with other weights of its terms.
    Weighted(Weights),
    /// That of hetero-core, with a mix from the tasks seen so far; `None` for its own weights.
    Learned(Option<Weights>),
    /// One from outside.
    Foreign(Arc<dyn Foreign>),
}

impl From<Policy> for Contender {
    fn from(policy: Policy) -> Self {
        Self { name: policy.word().to_owned(), rule: Rule::BuiltIn(policy) }
    }
}

impl Contender {
    /// The same with a learned mix; `None` for a rule that is not that of hetero-core.
    pub fn learned(&self) -> Option<Self> {
        let rule = match self.rule {
            Rule::BuiltIn(Policy::Aware) => Rule::Learned(None),
            Rule::Weighted(weights) => Rule::Learned(Some(weights)),
            _ => return None,
        };
        Some(Self { name: format!("{}, learned mix", self.name), rule })
    }
}

/// One run of a rule, before anything arrives.
pub(crate) fn occupancy<'a>(
    contender: &Contender,
    world: &'a World,
    trace: &Trace,
    seed: u64,
) -> Result<Box<dyn Occupancy + 'a>> {
    Ok(match &contender.rule {
        Rule::BuiltIn(Policy::Aware) => Box::new(Tenants::new(world, trace, seed, None, false)?),
        Rule::BuiltIn(policy) => Box::new(Baseline::new(world, *policy, seed)),
        Rule::Weighted(weights) => Box::new(Tenants::new(world, trace, seed, Some(*weights), false)?),
        Rule::Learned(weights) => Box::new(Tenants::new(world, trace, seed, *weights, true)?),
        Rule::Foreign(foreign) => Box::new(Guest::new(world, &contender.name, Arc::clone(foreign), seed)),
    })
}
