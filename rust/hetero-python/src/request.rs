//! Compiled requests.

use pyo3::prelude::*;

use crate::detached;

/// A compiled requirement: built once, asked many times.
#[pyclass(frozen, module = "hetero_ops._core")]
pub(crate) struct Request(pub(crate) hetero_core::Request);

#[pymethods]
impl Request {
    /// Reads the JSON form.
    ///
    /// Raises `InvalidRequirement` when the placer could not use it.
    #[new]
    fn new(py: Python<'_>, text: &[u8]) -> PyResult<Self> {
        detached(py, || hetero_core::Request::from_json(text)).map(Self)
    }

    /// Canonical text of the requirement.
    #[getter]
    fn requirement(&self) -> &str {
        &self.0.requirement
    }
}
