//! Errors of the core as the classes of `hetero_ops.errors`.

use hetero_core::Error;
use pyo3::prelude::*;

pyo3::import_exception!(hetero_ops.errors, HeteroOpsError);
pyo3::import_exception!(hetero_ops.errors, InvalidDocument);
pyo3::import_exception!(hetero_ops.errors, InvalidRequirement);
pyo3::import_exception!(hetero_ops.errors, StalePlacement);
pyo3::import_exception!(hetero_ops.errors, UnknownHold);

/// The Python exception for an error of the core.
pub(crate) fn to_python(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::InvalidDocument { message, path, line } => InvalidDocument::new_err((message, path, line)),
        Error::InvalidRequest { .. } => InvalidRequirement::new_err(text),
        Error::UnknownHold { .. } => UnknownHold::new_err(text),
        Error::StalePlacement { .. } => StalePlacement::new_err(text),
        _ => HeteroOpsError::new_err(text),
    }
}
