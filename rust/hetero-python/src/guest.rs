//! Policies written in Python, and what they are shown.

use std::sync::{Arc, Mutex, PoisonError};

use hetero_core::capacity::Capacity;
use hetero_core::{Error, Result};
use hetero_plan::{Answer, Asked, AskedTask as CoreTask, Candidate as CoreCandidate, Foreign};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

/// What a task of a trace asks for.
#[pyclass(frozen, module = "hetero_ops._core")]
pub(crate) struct AskedTask(CoreTask);

#[pymethods]
impl AskedTask {
    /// Devices; 0 for none.
    #[getter]
    fn count(&self) -> u32 {
        self.0.count
    }

    /// Share of each device, thousandths.
    #[getter]
    fn share_milli(&self) -> u16 {
        self.0.share_milli
    }

    /// CPU, thousandths of a core.
    #[getter]
    fn cpu_milli(&self) -> u64 {
        self.0.cpu_milli
    }

    /// Host memory, MiB.
    #[getter]
    fn memory_mib(&self) -> u64 {
        self.0.memory_mib
    }

    fn __repr__(&self) -> String {
        format!(
            "<{} devices, {} thousandths of each, {} milli CPU>",
            self.0.count, self.0.share_milli, self.0.cpu_milli
        )
    }
}

/// Nodes where a task fits, in the order in which ties should go.
#[pyclass(frozen, sequence, module = "hetero_ops._core")]
pub(crate) struct Candidates {
    all: Arc<[CoreCandidate]>,
    free: Arc<Capacity>,
}

#[pymethods]
impl Candidates {
    fn __len__(&self) -> usize {
        self.all.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Candidate> {
        let at = if index < 0 { index.checked_add_unsigned(self.all.len()) } else { Some(index) };
        let found = at.and_then(|at| usize::try_from(at).ok()).and_then(|at| self.all.get(at));
        let of = found.ok_or_else(|| PyIndexError::new_err("there are fewer candidates"))?.clone();
        Ok(Candidate { of, free: Arc::clone(&self.free) })
    }
}

/// A node where a task fits.
#[pyclass(frozen, module = "hetero_ops._core")]
pub(crate) struct Candidate {
    of: CoreCandidate,
    free: Arc<Capacity>,
}

#[pymethods]
impl Candidate {
    /// Name.
    #[getter]
    fn node(&self) -> &str {
        &self.of.facts.name
    }

    /// Cluster.
    #[getter]
    fn cluster(&self) -> &str {
        &self.of.facts.cluster
    }

    /// CPU in all, thousandths of a core; None where unknown.
    #[getter]
    fn cpu_milli(&self) -> Option<u64> {
        self.of.facts.cpu_milli
    }

    /// Free CPU; None where unknown.
    #[getter]
    fn free_cpu_milli(&self) -> Option<u64> {
        self.free.free_cpu_milli[self.of.facts.node.at()]
    }

    /// Free host memory; None where unknown.
    #[getter]
    fn free_memory_mib(&self) -> Option<u64> {
        self.free.free_memory_mib[self.of.facts.node.at()]
    }

    /// Free share of every device, thousandths, by id.
    #[getter]
    fn free_milli(&self) -> Vec<(u32, u16)> {
        let facts = &self.of.facts;
        facts.devices.iter().enumerate().map(|(at, (id, _))| (*id, self.free.free_milli[facts.first + at])).collect()
    }

    /// Model of every device by id; None where unknown.
    #[getter]
    fn models(&self) -> Vec<(u32, Option<String>)> {
        self.of.facts.devices.clone()
    }

    /// Ids of the devices that the task may take.
    #[getter]
    fn usable(&self) -> Vec<u32> {
        let facts = &self.of.facts;
        self.of.usable.iter().map(|at| facts.devices[at - facts.first].0).collect()
    }

    fn __repr__(&self) -> String {
        format!("<candidate {}>", self.of.facts.name)
    }
}

/// The policies of one replay that are written in Python, and what the first of them raised.
#[derive(Default)]
pub(crate) struct Guests(Arc<Mutex<Option<PyErr>>>);

impl Guests {
    /// Takes one in.
    pub(crate) fn admit(&mut self, name: &str, callable: Py<PyAny>) -> Arc<dyn Foreign> {
        Arc::new(Guest { name: name.to_owned(), callable, raised: Arc::clone(&self.0) })
    }

    /// What was raised.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[derive(Debug)]
struct Guest {
    name: String,
    callable: Py<PyAny>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Foreign for Guest {
    fn choose(&self, asked: Asked) -> Result<Option<Answer>> {
        Python::attach(|py| {
            let candidates = Candidates { all: asked.candidates, free: asked.free };
            match self.callable.call1(py, (AskedTask(asked.task), candidates)) {
                Ok(answer) => self.read(answer.bind(py)),
                Err(raised) => {
                    self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(raised);
                    Err(Error::Interrupted)
                }
            }
        })
    }
}

impl Guest {
    fn read(&self, answer: &Bound<'_, PyAny>) -> Result<Option<Answer>> {
        if answer.is_none() {
            return Ok(None);
        }
        let (node, devices) = match answer.extract::<(Bound<'_, PyAny>, Vec<u32>)>() {
            Ok((node, devices)) => (node, Some(devices)),
            Err(_) => (answer.clone(), None),
        };
        if let Ok(candidate) = node.cast::<Candidate>() {
            let facts = &candidate.get().of.facts;
            return Ok(Some(Answer { node: facts.name.clone(), cluster: Some(facts.cluster.clone()), devices }));
        }
        if let Ok(node) = node.extract::<String>() {
            return Ok(Some(Answer { node, cluster: None, devices }));
        }
        let shown = answer.repr().map_or_else(|_| "what has no repr".to_owned(), |text| text.to_string());
        let message = format!(
            "policy {}: it answered {shown}; answer with a candidate or the name of its node, alone or with a list of \
             device ids, or with None",
            self.name
        );
        Err(Error::InvalidRequest { message })
    }
}
