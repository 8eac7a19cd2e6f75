//! The door between hetero-core and Python: converts, detaches, maps errors, decides nothing.

use pyo3::prelude::*;

mod batch;
mod dag;
mod decision;
mod errors;
mod fleet;
mod guest;
mod interrupt;
mod replay;
mod request;
mod watched;

/// The Rust core of hetero-ops.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::decision::{Cut, CutPart, Decision, Grant, GroupGrant, NoFit, Placement};
    #[pymodule_export]
    use crate::fleet::Fleet;
    #[pymodule_export]
    use crate::guest::{AskedTask, Candidate, Candidates};
    #[pymodule_export]
    use crate::replay::{simulate, simulate_timed};
    #[pymodule_export]
    use crate::request::Request;

    /// Version of the core.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// The registry of reason codes, as TOML.
    #[pyfunction]
    fn codes() -> &'static str {
        hetero_core::codes::REGISTRY
    }

    /// How well a whole device of the first profile of a catalog suits a request under a policy; all but the policy as JSON.
    #[pyfunction]
    fn affinity(py: Python<'_>, catalog: &[u8], request: &[u8], policy: &str) -> PyResult<String> {
        crate::detached(py, || {
            let affinity = hetero_core::affinity::from_json(catalog, request, policy)?;
            Ok(serde_json::to_string(&affinity).expect("an affinity has string keys and finite numbers only"))
        })
    }

    /// Whether a device can hold the partitions of these names at once, beside those that are placed already, each with the
    /// memory slice at which it begins. The catalog is JSON, and the device its first profile.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)] // Python lists arrive as vectors
    fn fits_together(py: Python<'_>, catalog: &[u8], names: Vec<String>, placed: Vec<(String, u32)>) -> PyResult<bool> {
        crate::detached(py, || hetero_core::partition::geometry::fits_from_json(catalog, &names, &placed))
    }

    /// The JSON Schema of the fleet document.
    #[pyfunction]
    fn fleet_schema() -> String {
        hetero_core::document::FleetDocument::schema()
    }
}

/// The only way into work of the core: detached from the interpreter, with errors mapped.
fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> hetero_core::Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(errors::to_python)
}
