//! Decisions as small frozen objects: a `Placement` or a `NoFit`, both a `Decision`.

use hetero_core::{Decision as Core, NoFit as CoreNoFit, Placement as CorePlacement, Verdict};
use pyo3::prelude::*;

use crate::errors::InvalidDocument;

/// The answer to a question: a `Placement` or a `NoFit`.
#[pyclass(frozen, subclass, module = "hetero_ops._core")]
pub(crate) struct Decision(Core);

/// Where a step goes.
#[pyclass(frozen, extends = Decision, module = "hetero_ops._core")]
pub(crate) struct Placement;

/// Why a step goes nowhere.
#[pyclass(frozen, extends = Decision, module = "hetero_ops._core")]
pub(crate) struct NoFit;

/// One granted device.
#[pyclass(frozen, get_all, module = "hetero_ops._core")]
pub(crate) struct Grant {
    /// Node.
    node: String,
    /// Id within the node.
    id: u32,
    /// UUID, where known.
    uuid: Option<String>,
    /// Share granted, thousandths of the device.
    share_milli: u16,
}

/// What one group of a step gets.
#[pyclass(frozen, get_all, module = "hetero_ops._core")]
pub(crate) struct GroupGrant {
    /// What the group asks for, as `Ascend-910B`.
    choice: String,
    /// Node.
    node: String,
    /// Its devices; none for a group of CPU cores.
    devices: Vec<Py<Grant>>,
    /// Vendor of the devices; None for CPU cores, or unknown.
    vendor: Option<String>,
    /// Broad kind of the devices, as `gpu`; None for CPU cores, or unknown.
    accelerator_class: Option<&'static str>,
    /// Catalog key of the devices; None for CPU cores, or outside the catalog.
    sku: Option<String>,
    /// Model of the devices; None for CPU cores, or unknown.
    model: Option<String>,
    /// Name of the hardware partition that each device is; None for whole devices and shares.
    partition: Option<String>,
    /// Memory granted on each device, MiB; None for CPU cores, or unknown.
    memory_mib: Option<u64>,
    /// CPU granted, thousandths of a core.
    cpu_milli: u64,
}

impl From<&hetero_core::decision::Grant> for Grant {
    fn from(grant: &hetero_core::decision::Grant) -> Self {
        Self { node: grant.node.clone(), id: grant.id, uuid: grant.uuid.clone(), share_milli: grant.share_milli }
    }
}

impl GroupGrant {
    fn of(py: Python<'_>, group: &hetero_core::decision::GroupGrant) -> PyResult<Self> {
        let granted = group.granted.as_ref();
        Ok(Self {
            choice: group.choice.clone(),
            node: group.node.clone(),
            devices: group.devices.iter().map(|grant| Py::new(py, Grant::from(grant))).collect::<PyResult<_>>()?,
            vendor: granted.and_then(|granted| granted.vendor.clone()),
            accelerator_class: granted.and_then(|granted| granted.class).map(hetero_core::profile::Class::word),
            sku: granted.and_then(|granted| granted.sku.clone()),
            model: granted.and_then(|granted| granted.model.clone()),
            partition: granted.and_then(|granted| granted.partition.clone()),
            memory_mib: granted.and_then(|granted| granted.memory_mib),
            cpu_milli: group.cpu_milli,
        })
    }
}

/// A partition that a cut makes.
#[pyclass(frozen, get_all, module = "hetero_ops._core")]
pub(crate) struct CutPart {
    /// Its name, as `1g.10gb`.
    partition: String,
    /// The id that it gets within the node.
    id: u32,
    /// Memory slice at which it begins; None for a mode, which has no slices.
    start: Option<u32>,
}

/// A device that has to be cut into partitions before a step can run.
#[pyclass(frozen, get_all, module = "hetero_ops._core")]
pub(crate) struct Cut {
    /// Cluster.
    cluster: String,
    /// Node.
    node: String,
    /// Id of the device within the node; it is gone afterwards.
    device: u32,
    /// Its UUID, where known.
    uuid: Option<String>,
    /// Its catalog key.
    sku: String,
    /// What it is cut into, largest first.
    parts: Vec<Py<CutPart>>,
}

impl Cut {
    fn of(py: Python<'_>, cut: &hetero_core::decision::Cut) -> PyResult<Self> {
        let part = |part: &hetero_core::decision::CutPart| {
            Py::new(py, CutPart { partition: part.partition.clone(), id: part.id, start: part.start })
        };
        Ok(Self {
            cluster: cut.cluster.clone(),
            node: cut.node.clone(),
            device: cut.device,
            uuid: cut.uuid.clone(),
            sku: cut.sku.clone(),
            parts: cut.parts.iter().map(part).collect::<PyResult<_>>()?,
        })
    }
}

/// The Python object for a decision of the core.
pub(crate) fn to_python(py: Python<'_>, decision: Core) -> PyResult<Py<PyAny>> {
    let is_placement = matches!(decision, Core::Placement(_));
    let base = PyClassInitializer::from(Decision(decision));
    Ok(if is_placement {
        Bound::new(py, base.add_subclass(Placement))?.into_any().unbind()
    } else {
        Bound::new(py, base.add_subclass(NoFit))?.into_any().unbind()
    })
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a decision has string keys and finite numbers only")
}

#[pymethods]
impl Decision {
    /// Whether the step can run.
    #[getter]
    fn ok(&self) -> bool {
        matches!(self.0, Core::Placement(_))
    }

    /// `placed`, `degraded`, `busy` or `impossible`.
    #[getter]
    fn verdict(&self) -> &'static str {
        match self.0.verdict() {
            Verdict::Placed => "placed",
            Verdict::Degraded => "degraded",
            Verdict::Busy => "busy",
            Verdict::Impossible => "impossible",
        }
    }

    /// Canonical text of the requirement.
    #[getter]
    fn requirement(&self) -> &str {
        match &self.0 {
            Core::Placement(placement) => &placement.requirement,
            Core::NoFit(no_fit) => &no_fit.requirement,
        }
    }

    /// Names of the nodes; none when nothing fits.
    #[getter]
    fn nodes(&self) -> &[String] {
        match &self.0 {
            Core::Placement(placement) => &placement.nodes,
            Core::NoFit(_) => &[],
        }
    }

    /// Granted devices; none when nothing fits, and for a step that asks for CPU only.
    #[getter]
    fn devices(&self) -> Vec<Grant> {
        let granted = match &self.0 {
            Core::Placement(placement) => placement.devices.as_slice(),
            Core::NoFit(_) => &[],
        };
        granted.iter().map(Grant::from).collect()
    }

    /// Digest of the question: the same question has the same id.
    #[getter]
    fn trace_id(&self) -> &str {
        match &self.0 {
            Core::Placement(placement) => &placement.trace_id,
            Core::NoFit(no_fit) => &no_fit.trace_id,
        }
    }

    /// The decision in words: where, the terms of the score, and why not elsewhere.
    fn why(&self) -> String {
        hetero_core::why::why(&self.0)
    }

    /// The decision as JSON.
    fn to_json(&self) -> String {
        json(&self.0)
    }

    /// Reads what `to_json` wrote. Raises `InvalidDocument` for anything else.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Py<PyAny>> {
        let refuse = |e: serde_json::Error| InvalidDocument::new_err((format!("not a decision: {e}"), "", e.line()));
        to_python(py, serde_json::from_str(text).map_err(refuse)?)
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String,))> {
        Ok((slf.py().get_type::<Self>().getattr("from_json")?.unbind(), (slf.get().to_json(),)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        // The first 64 bits of the trace id: equal decisions answer the same question.
        self.trace_id().get(..16).and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0)
    }

    fn __repr__(&self) -> String {
        format!("<{} {:?}>", self.verdict(), self.requirement())
    }
}

impl Placement {
    pub(crate) fn core<'a>(slf: &'a Bound<'_, Self>) -> &'a CorePlacement {
        match &slf.as_super().get().0 {
            Core::Placement(placement) => placement,
            Core::NoFit(_) => unreachable!("a Placement is made of a placement only"),
        }
    }
}

#[pymethods]
impl Placement {
    /// The choice that was granted, as `MI300X`.
    #[getter]
    fn choice(slf: &Bound<'_, Self>) -> String {
        Self::core(slf).choice.clone()
    }

    /// Its place in the order of choices, from 0.
    #[getter]
    fn choice_index(slf: &Bound<'_, Self>) -> usize {
        Self::core(slf).choice_index
    }

    /// 0..=100.
    #[getter]
    fn score(slf: &Bound<'_, Self>) -> f64 {
        Self::core(slf).score
    }

    /// Cluster.
    #[getter]
    fn cluster(slf: &Bound<'_, Self>) -> String {
        Self::core(slf).cluster.clone()
    }

    /// CPU granted, thousandths of a core; 0 where none was asked.
    #[getter]
    fn cpu_milli(slf: &Bound<'_, Self>) -> u64 {
        Self::core(slf).cpu_milli
    }

    /// Vendor of the granted devices; None for CPU only, or unknown.
    #[getter]
    fn vendor(slf: &Bound<'_, Self>) -> Option<String> {
        Self::core(slf).granted.as_ref()?.vendor.clone()
    }

    /// Broad kind of the granted devices, as `gpu`; None for CPU only, or unknown.
    #[getter]
    fn accelerator_class(slf: &Bound<'_, Self>) -> Option<&'static str> {
        Self::core(slf).granted.as_ref()?.class.map(hetero_core::profile::Class::word)
    }

    /// Catalog key of the granted devices; None for CPU only, or outside the catalog.
    #[getter]
    fn sku(slf: &Bound<'_, Self>) -> Option<String> {
        Self::core(slf).granted.as_ref()?.sku.clone()
    }

    /// Model of the granted devices; None for CPU only, or unknown.
    #[getter]
    fn model(slf: &Bound<'_, Self>) -> Option<String> {
        Self::core(slf).granted.as_ref()?.model.clone()
    }

    /// Name of the hardware partition that each granted device is; None for whole devices and shares.
    #[getter]
    fn partition(slf: &Bound<'_, Self>) -> Option<String> {
        Self::core(slf).granted.as_ref()?.partition.clone()
    }

    /// Memory granted on each device, MiB; None for CPU only, or unknown.
    #[getter]
    fn memory_mib(slf: &Bound<'_, Self>) -> Option<u64> {
        Self::core(slf).granted.as_ref()?.memory_mib
    }

    /// What each group gets, of a step that asks for devices of several kinds; none otherwise.
    #[getter]
    fn groups(slf: &Bound<'_, Self>) -> PyResult<Vec<GroupGrant>> {
        Self::core(slf).groups.iter().map(|group| GroupGrant::of(slf.py(), group)).collect()
    }

    /// What has to be cut first; None where all devices are there.
    #[getter]
    fn cut(slf: &Bound<'_, Self>) -> PyResult<Option<Cut>> {
        Self::core(slf).cut.as_ref().map(|cut| Cut::of(slf.py(), cut)).transpose()
    }

    /// Warnings as pairs of code and text: what may be wanted otherwise, as that groups lie on several nodes.
    #[getter]
    fn notes(slf: &Bound<'_, Self>) -> Vec<(String, String)> {
        Self::core(slf).notes.iter().map(|note| (note.code.clone(), note.text.clone())).collect()
    }

    /// Precision that the step is to be quantized to; None where it is not.
    #[getter]
    fn quantize(slf: &Bound<'_, Self>) -> Option<String> {
        Self::core(slf).quantize.clone()
    }

    /// Precision granted; None where none was asked.
    #[getter]
    fn precision(slf: &Bound<'_, Self>) -> Option<String> {
        Self::core(slf).precision.clone()
    }
}

impl NoFit {
    fn core<'a>(slf: &'a Bound<'_, Self>) -> &'a CoreNoFit {
        match &slf.as_super().get().0 {
            Core::NoFit(no_fit) => no_fit,
            Core::Placement(_) => unreachable!("a NoFit is made of a no-fit only"),
        }
    }
}

#[pymethods]
impl NoFit {
    /// The codes of all reasons, nearest miss first, each once.
    #[getter]
    fn codes(slf: &Bound<'_, Self>) -> Vec<String> {
        let mut codes: Vec<String> = Vec::new();
        for code in Self::core(slf).reasons.iter().map(|reason| reason.code.name()) {
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        codes
    }
}
