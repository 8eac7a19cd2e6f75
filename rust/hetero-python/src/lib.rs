//! The door between hetero-core and Python: converts, detaches, maps errors, decides nothing.

use pyo3::prelude::*;

mod decision;
mod errors;
mod fleet;
mod request;

/// The Rust core of hetero-ops.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::decision::{Decision, Grant, NoFit, Placement};
    #[pymodule_export]
    use crate::fleet::Fleet;
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
