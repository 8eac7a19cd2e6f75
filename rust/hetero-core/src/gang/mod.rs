//! Steps over several nodes: gangs. All nodes give their part, or none does.
//!
//! A choice asks for devices in all and for a number of nodes, or a range of them. Every node gives as many devices, of one
//! model, in one cluster; what a node must have (CPU, memory, links, tensor parallel groups in one island) its part must
//! have. Of a range of counts the most devices are taken, then the fewest nodes. A step that takes no device is split by
//! its cores.
//!
//! Which nodes: those with the most pairs of nodes in one zone, of these with the most in one rack, of these with the
//! highest score, then those near a network card where that is preferred, then with less left idle, then by name. A step
//! that is spread over racks or power domains has one node in each, the best one.

mod part;
mod placing;
mod refusing;
mod search;
mod shape;

use crate::fleet::Fleet;
use crate::request::{Choice, Request};
use crate::score::Values;
use crate::topology::Pairs;
use crate::{filter, place::Question};

pub(crate) use part::{Part, fits_of_models};
pub(crate) use placing::placement;
pub(crate) use refusing::{considered, decide};
pub(crate) use shape::{apart, digested, fits, is_good, least, settle};

/// The best way to serve a choice on several nodes.
#[derive(Clone, Debug)]
pub(crate) struct Gang {
    /// What each node gives, in the order of the nodes.
    pub(crate) parts: Vec<Part>,
    /// Means over the nodes; topology over all pairs of devices.
    pub(crate) values: Values,
    /// The score.
    pub(crate) total: f64,
    /// Pairs of devices by distance.
    pub(crate) pairs: Pairs,
    /// What it is compared by with others on as many nodes.
    pub(crate) merit: search::Merit,
}

impl Gang {
    /// Whether the score is what the choice asks for.
    pub(crate) fn is_good(&self, choice: &Choice) -> bool {
        choice.min_score.is_none_or(|least| self.total >= f64::from(least))
    }
}

/// What a search came to.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The gang.
    pub(crate) gang: Option<Gang>,
    /// Nodes that can give their part together: of one model, in one cluster, apart as asked.
    pub(crate) most: usize,
    /// The same, were they not to be apart.
    pub(crate) most_together: usize,
}

/// The best gang for one node's part of a choice.
pub(crate) fn best(fleet: &Fleet, request: &Request, index: usize, part: &Choice, question: &Question) -> Found {
    let fit = filter::kinds_of(fleet, request, index, part);
    search::search(fleet, part, &fit, question)
}
