//! The fleet: state stays on this side, behind a lock that is only taken while detached from the interpreter.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hetero_core::document::FleetDocument;
use hetero_core::profile::Profiles;
use hetero_core::score::Weights;
use hetero_core::{Fleet as Core, HoldId, NamedHold, Policy, Question};
use hetero_plan::Watch;
use hetero_plan::batch::Batch;
use pyo3::prelude::*;

use crate::batch;
use crate::dag;
use crate::decision::{Placement, to_python};
use crate::detached;
use crate::errors;
use crate::interrupt::interruptible;
use crate::request::Request;
use crate::watched::watched;

/// All clusters: built once, changed by small steps, asked many times. Safe to share between threads.
#[pyclass(frozen, module = "hetero_ops._core")]
pub(crate) struct Fleet(RwLock<Core>);

impl Fleet {
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Core> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Core> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(policy: &str, seed: u64, key: &str, weights: Option<&[u8]>) -> hetero_core::Result<Question> {
        let policy = Policy::parse(policy)?;
        let weights = weights.map_or(Ok(policy.weights()), Weights::from_json)?;
        Ok(Question { policy, weights, seed, key: key.to_owned() })
    }
}

pub(crate) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("reports have string keys and finite numbers only")
}

/// Reads a JSON argument; `what` names it in the message.
fn parsed<T: serde::de::DeserializeOwned>(what: &str, text: &[u8]) -> hetero_core::Result<T> {
    serde_json::from_slice(text).map_err(|e| hetero_core::Error::InvalidDocument {
        message: format!("{what}: {e}"),
        path: String::new(),
        line: None,
    })
}

fn cores(requests: &[Bound<'_, Request>]) -> Vec<hetero_core::Request> {
    requests.iter().map(|request| request.get().0.clone()).collect()
}

fn all_to_python(py: Python<'_>, decisions: Vec<hetero_core::Decision>) -> PyResult<Vec<Py<PyAny>>> {
    decisions.into_iter().map(|decision| to_python(py, decision)).collect()
}

#[pymethods]
impl Fleet {
    /// Builds a fleet from a fleet document and the catalog, both as JSON.
    ///
    /// Raises `InvalidDocument` with the place in the document when it is wrong.
    #[new]
    fn new(py: Python<'_>, document: &[u8], profiles: &[u8]) -> PyResult<Self> {
        let build = || Core::new(FleetDocument::from_json(document)?, Profiles::from_json(profiles)?);
        detached(py, build).map(|fleet| Self(RwLock::new(fleet)))
    }

    /// Reads a snapshot that `to_json` wrote.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &[u8]) -> PyResult<Self> {
        detached(py, || Core::from_json(text)).map(|fleet| Self(RwLock::new(fleet)))
    }

    /// The whole state, holds included, as JSON bytes.
    fn to_json(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        detached(py, || Ok(self.read().to_json().into_bytes()))
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (Py<PyAny>,))> {
        let text = pyo3::types::PyBytes::new(slf.py(), &slf.get().to_json(slf.py())?);
        Ok((slf.get_type().getattr("from_json")?.unbind(), (text.into_any().unbind(),)))
    }

    /// The best placement, or the reasons for none. Changes nothing.
    #[pyo3(signature = (request, *, policy = "aware", seed = 0, key = "", weights = None))]
    fn place(
        &self,
        py: Python<'_>,
        request: &Bound<'_, Request>,
        policy: &str,
        seed: u64,
        key: &str,
        weights: Option<&[u8]>,
    ) -> PyResult<Py<PyAny>> {
        let request = &request.get().0;
        let answer = || hetero_core::place(&self.read(), request, &Self::ask(policy, seed, key, weights)?);
        to_python(py, detached(py, answer)?)
    }

    /// The decision of each request at the present state, in their order. Changes nothing; Ctrl-C ends it.
    ///
    /// `threads` is 0 for one a core.
    #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)] // Python lists arrive as vectors; options are named
    #[pyo3(signature = (requests, *, policy = "aware", seed = 0, key = "", weights = None, threads = 0))]
    fn place_each(
        &self,
        py: Python<'_>,
        requests: Vec<Py<Request>>,
        policy: &str,
        seed: u64,
        key: &str,
        weights: Option<&[u8]>,
        threads: usize,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let requests: Vec<&hetero_core::Request> = requests.iter().map(|request| &request.get().0).collect();
        let decisions = interruptible(py, |stop| {
            let question = Self::ask(policy, seed, key, weights)?;
            hetero_plan::place_each(&self.read(), &requests, &question, threads, stop)
        })?;
        decisions.into_iter().map(|decision| to_python(py, decision)).collect()
    }

    /// The decision with every candidate, every refusal and the counts of each stage, as JSON. Changes nothing.
    #[pyo3(signature = (request, *, policy = "aware", seed = 0, key = "", weights = None))]
    fn explain(
        &self,
        py: Python<'_>,
        request: &Bound<'_, Request>,
        policy: &str,
        seed: u64,
        key: &str,
        weights: Option<&[u8]>,
    ) -> PyResult<String> {
        let request = &request.get().0;
        let tell = || hetero_core::explain(&self.read(), request, &Self::ask(policy, seed, key, weights)?);
        detached(py, || tell().map(|explanation| json(&explanation)))
    }

    /// The score of every candidate over all choices, every refusal, and the affinity of each kind, as JSON.
    #[pyo3(signature = (request, *, policy = "aware", weights = None))]
    fn score(
        &self,
        py: Python<'_>,
        request: &Bound<'_, Request>,
        policy: &str,
        weights: Option<&[u8]>,
    ) -> PyResult<String> {
        let request = &request.get().0;
        let question = || Self::ask(policy, 0, "", weights);
        detached(py, || Ok(json(&hetero_core::score::report::report(&self.read(), request, &question()?))))
    }

    /// A layout of partitions for every idle device that may be cut, as JSON. Changes nothing.
    fn suggest_partitions(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(json(&hetero_core::partition::suggestion::suggest(&self.read()))))
    }

    /// Whether a pool lets any device be cut into partitions.
    fn may_be_cut(&self, py: Python<'_>) -> PyResult<bool> {
        detached(py, || Ok(!self.read().inventory().cuts.is_empty()))
    }

    /// Takes the capacity of a placement; returns the hold. A device that has to be cut for it is cut.
    ///
    /// Raises `StalePlacement` when a device that it names changed since.
    fn commit(&self, py: Python<'_>, placement: &Bound<'_, Placement>) -> PyResult<u64> {
        let placement = Placement::core(placement);
        detached(py, || self.write().commit(placement).map(|hold| hold.0))
    }

    /// What a placement would hold and take, by names, as JSON. Refused when what it names changed since.
    fn holding(&self, py: Python<'_>, placement: &Bound<'_, Placement>) -> PyResult<String> {
        let placement = Placement::core(placement);
        detached(py, || Ok(json(&self.read().holding(placement)?)))
    }

    /// Takes what a reservation made elsewhere holds, as JSON, as far as it is there; returns the hold.
    fn occupy(&self, py: Python<'_>, holds: &[u8]) -> PyResult<u64> {
        detached(py, || {
            let holds: Vec<NamedHold> = parsed("holds", holds)?;
            self.write().occupy(&holds).map(|hold| hold.0)
        })
    }

    /// Gives the capacity of a hold back. Raises `UnknownHold` when there is no such hold.
    fn release(&self, py: Python<'_>, hold: u64) -> PyResult<()> {
        detached(py, || self.write().release(HoldId(hold)))
    }

    /// Fragmentation under the mix in use, as JSON.
    fn fragmentation(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(json(&hetero_core::fragmentation_report::report(&self.read()))))
    }

    /// Devices by pool and kind, as JSON.
    fn overview(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(json(&hetero_core::overview::overview(&self.read()))))
    }

    /// The names of all pools.
    fn pool_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        detached(py, || Ok(self.read().pool_names().into_iter().map(str::to_owned).collect()))
    }

    /// What the pools that share clusters have, as JSON.
    fn pools(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(json(&self.read().pools().rows())))
    }

    /// The mix that the document states, as written, as JSON.
    fn stated_mix(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(json(&self.read().stated_mix())))
    }

    /// The limits that the document states, as written, as JSON.
    fn stated_limits(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(json(&self.read().stated_limits())))
    }

    /// Holds teams to these limits from now on; what is in use counts.
    fn set_limits(&self, py: Python<'_>, limits: &[u8]) -> PyResult<()> {
        detached(py, || {
            self.write().set_limits(parsed("limits", limits)?);
            Ok(())
        })
    }

    /// Takes what was spent of each budget in its present window, as JSON, in the order of the limits.
    fn set_spent(&self, py: Python<'_>, spent: &[u8]) -> PyResult<()> {
        detached(py, || self.write().set_spent(&parsed::<Vec<Option<u64>>>("spent", spent)?))
    }

    /// What an hour of a placement spends of each budget, as JSON, in the order of the limits.
    fn spending(&self, py: Python<'_>, placement: &Bound<'_, Placement>) -> PyResult<String> {
        let placement = Placement::core(placement);
        detached(py, || self.read().spending(placement).map(|spending| json(&spending)))
    }

    /// Takes speeds from these measurements from now on, where they have them.
    fn set_measured(&self, py: Python<'_>, table: &[u8]) -> PyResult<()> {
        detached(py, || self.write().set_measured(parsed("measurements", table)?))
    }

    /// Takes readings of devices into account from now on, as JSON, all or none.
    fn observe(&self, py: Python<'_>, readings: &[u8]) -> PyResult<()> {
        detached(py, || self.write().observe(parsed("readings", readings)?))
    }

    /// The last readings that still tell something, as JSON.
    fn readings(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(json(&self.read().readings())))
    }

    /// Measures fragmentation against another mix from now on.
    fn set_mix(&self, py: Python<'_>, mix: &[u8]) -> PyResult<()> {
        detached(py, || self.write().set_mix(parsed("mix", mix)?))
    }

    /// Plans many steps at once: the decision of each, and the report as JSON. Changes nothing.
    ///
    /// `tasks` is JSON: of each task `request`, its place in `requests`, `priority` and `age_s`.
    #[allow(clippy::needless_pass_by_value)] // Python lists arrive as vectors
    fn place_all(
        &self,
        py: Python<'_>,
        requests: Vec<Bound<'_, Request>>,
        tasks: &[u8],
        settings: &[u8],
    ) -> PyResult<(Vec<Py<PyAny>>, String)> {
        let batch = Batch { requests: cores(&requests), tasks: batch::tasks(tasks).map_err(errors::to_python)? };
        let watch = Watch::default();
        let (decisions, report) = watched(py, &watch, None, || {
            let fleet = self.read().clone();
            batch::plan(&fleet, &batch, settings, &watch)
        })?;
        Ok((all_to_python(py, decisions)?, report))
    }

    /// The integer programme of a batch, as JSON: every way to place every request, and what is free.
    #[allow(clippy::needless_pass_by_value)]
    fn batch_programme(
        &self,
        py: Python<'_>,
        requests: Vec<Bound<'_, Request>>,
        tasks: &[u8],
        settings: &[u8],
    ) -> PyResult<String> {
        let requests = cores(&requests);
        detached(py, || batch::programme(&self.read(), &Batch { requests, tasks: batch::tasks(tasks)? }, settings))
    }

    /// The plan that a solution of the programme is, as `place_all`: of each task the place of its offer, and the bound
    /// that was proved, if any.
    #[allow(clippy::needless_pass_by_value)]
    fn batch_settle(
        &self,
        py: Python<'_>,
        requests: Vec<Bound<'_, Request>>,
        tasks: &[u8],
        settings: &[u8],
        chosen: Vec<Option<usize>>,
        bound: Option<u64>,
    ) -> PyResult<(Vec<Py<PyAny>>, String)> {
        let requests = cores(&requests);
        let (decisions, report) = detached(py, || {
            let batch = Batch { requests, tasks: batch::tasks(tasks)? };
            batch::settle(&self.read(), &batch, settings, (&chosen, bound))
        })?;
        Ok((all_to_python(py, decisions)?, report))
    }

    /// Plans a pipeline: the decision of each step, and the report as JSON. Changes nothing; Ctrl-C ends it.
    ///
    /// `requests` is by step; `steps` is JSON: of each `after` and `near`, places of others, and `duration_s`.
    #[allow(clippy::needless_pass_by_value)] // Python lists arrive as vectors
    fn place_dag(
        &self,
        py: Python<'_>,
        requests: Vec<Bound<'_, Request>>,
        steps: &[u8],
        settings: &[u8],
    ) -> PyResult<(Vec<Py<PyAny>>, String)> {
        let requests = cores(&requests);
        let watch = Watch::default();
        let (decisions, report) = watched(py, &watch, None, || {
            let fleet = self.read().clone();
            dag::plan(&fleet, &requests, steps, settings, &watch)
        })?;
        Ok((all_to_python(py, decisions)?, report))
    }

    /// Plans the tasks of a trace as one batch, as JSON. Changes nothing.
    fn simulate_batch(&self, py: Python<'_>, trace: &[u8], question: &[u8]) -> PyResult<String> {
        let watch = Watch::default();
        watched(py, &watch, None, || {
            let fleet = self.read().clone();
            batch::simulate(&fleet, trace, question, &watch)
        })
    }

    /// Models in the fleet that the catalog does not have.
    fn foreign_models(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let foreign = || {
            let fleet = self.read();
            let kinds = fleet.inventory().kinds.iter().filter(|kind| kind.sku.is_none());
            let mut models: Vec<String> = kinds.filter_map(|kind| kind.model.clone()).collect();
            models.sort_unstable();
            models.dedup();
            Ok(models)
        };
        detached(py, foreign)
    }
}
