//! Power headroom. Without readings of what nodes draw there is nothing to tell candidates apart.

/// The same for every candidate.
pub(crate) const VALUE: f64 = 1.0;

/// Why.
pub(crate) const WHY: &str = "no power readings";
