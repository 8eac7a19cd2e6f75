//! A checkpoint that cannot leave its cluster keeps the step there.

use std::borrow::Cow;

use crate::fleet::Fleet;
use crate::request::Request;

/// The request, kept where its checkpoint is if that lies in some cluster and is not portable; otherwise as it is.
///
/// Where no cluster holds it there is none yet, and the step may begin anywhere.
pub fn kept<'a>(fleet: &Fleet, request: &'a Request) -> Cow<'a, Request> {
    let bound = request.checkpoint.as_ref().filter(|checkpoint| !checkpoint.is_portable);
    let location = bound.map(|checkpoint| &checkpoint.location);
    let is_held = |location: &&String| fleet.inventory().clusters.iter().any(|cluster| cluster.holds(location));
    let Some(location) = location.filter(is_held) else { return Cow::Borrowed(request) };
    let mut request = request.clone();
    request.choices.iter_mut().for_each(|choice| choice.place.checkpoint = Some(location.clone()));
    Cow::Owned(request)
}
