//! What takes part in a replay: a rule under a name.

use hetero_core::Result;

use crate::aware::Aware;
use crate::baseline::Baseline;
use crate::occupancy::{Occupancy, Tenants};
use crate::policy::Policy;
use crate::run::Placer;
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
    /// One that is built in.
    BuiltIn(Policy),
}

impl From<Policy> for Contender {
    fn from(policy: Policy) -> Self {
        Self { name: policy.word().to_owned(), rule: Rule::BuiltIn(policy) }
    }
}

/// One run of a rule in which tasks end, before anything arrives.
pub(crate) fn occupancy<'a>(
    contender: &Contender,
    world: &'a World,
    trace: &Trace,
    seed: u64,
) -> Result<Box<dyn Occupancy + 'a>> {
    Ok(match contender.rule {
        Rule::BuiltIn(Policy::Aware) => Box::new(Tenants::new(world, trace, seed)?),
        Rule::BuiltIn(policy) => Box::new(Baseline::new(world, policy, seed)),
    })
}

/// One run of a rule, before anything arrives.
pub(crate) fn placer<'a>(
    contender: &Contender,
    world: &'a World,
    trace: &Trace,
    seed: u64,
) -> Result<Box<dyn Placer + 'a>> {
    Ok(match contender.rule {
        Rule::BuiltIn(Policy::Aware) => Box::new(Aware::new(world, trace, seed)?),
        Rule::BuiltIn(policy) => Box::new(Baseline::new(world, policy, seed)),
    })
}
