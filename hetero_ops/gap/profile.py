"""`Profile`, the GPU Attribute Profile (GAP): what is known of one accelerator SKU.

All figures are those of one schedulable device, the thing a driver shows and a step is given; where a package shows
several (MI250, Ascend 910C), the table's package totals are divided among them. `None` always means unknown.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hetero_ops.gap.words import PRECISIONS, AcceleratorClass, Confidence, PrecisionWord, Support, Vendor

Interconnect = Literal[
    "nvlink",
    "infinity_fabric",
    "xe_link",
    "roce",
    "hccs",
    "mlulink",
    "mtlink",
    "metaxlink",
    "ici",
    "neuronlink",
    "realscale",
    "upi",
    "pcie",
    "none",
]
Topology = Literal[
    "nvswitch",
    "switched",
    "bridge",
    "full-mesh",
    "all-to-all",
    "hybrid-cube-mesh",
    "mesh",
    "mesh-of-4",
    "2d-torus",
    "3d-torus",
    "ring",
    "dragonfly",
    "socket",
    "pcie-tree",
    "none",
]
Partitioning = Literal[
    "mig",
    "amd-partition",
    "sriov",
    "vnpu",
    "smlu",
    "vdcu",
    "vgpu",
    "sgpu",
    "neuroncore",
    "nsp",
    "slice",
    "cpuset",
    "none",
]

Rate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Ratio = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Amount = Annotated[int, Field(gt=0)]

_OTHER_EFFICIENCY = 0.65
"""Achieved over peak where nothing was measured; this and the two below are the accelerator sheet's, section 7."""

_NVIDIA_EFFICIENCY = 0.75
_CDNA_EFFICIENCY = 0.60
_CDNA_WITH_MATRIX_FP8 = ("CDNA3", "CDNA4")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rates(_Frozen):
    """Dense peak rates of one device in TFLOPS, or TOPS for int8 and int4; a multiply-add counts as two.

    A positive number is a native path, 0 a path known not to exist, `None` unknown. Matrix rates, except `fp64` and
    `fp32`, which are vector rates with their matrix rates beside them. GeForce rates are those with fp32 accumulation.
    """

    fp64: Rate | None = None
    fp64_tensor: Rate | None = None
    fp32: Rate | None = None
    fp32_matrix: Rate | None = None
    tf32: Rate | None = None
    bf16: Rate | None = None
    fp16: Rate | None = None
    fp8: Rate | None = None
    fp6: Rate | None = None
    fp4: Rate | None = None
    int8: Rate | None = None
    int4: Rate | None = None

    def of(self, precision: PrecisionWord) -> float | None:
        """The faster of the vector and the matrix rate of a precision; `None` when it is not known.

        No matrix path (0) beside a vector rate that nobody published says nothing: that is unknown, not 0.
        """
        paths = {"fp64": (self.fp64, self.fp64_tensor), "fp32": (self.fp32, self.fp32_matrix)}
        rates = paths.get(precision, (getattr(self, precision),))
        fastest = max((rate for rate in rates if rate is not None), default=None)
        return None if fastest == 0 and None in rates else fastest


class Precisions(_Frozen):
    """What the hardware does with each precision; `None` when that is not known."""

    fp64: Support | None = None
    fp32: Support | None = None
    tf32: Support | None = None
    bf16: Support | None = None
    fp16: Support | None = None
    fp8: Support | None = None
    fp6: Support | None = None
    fp4: Support | None = None
    int8: Support | None = None
    int4: Support | None = None

    def of(self, precision: PrecisionWord) -> Support | None:
        """The support of one precision; `None` when unknown."""
        support: Support | None = getattr(self, precision)
        return support


class Profile(_Frozen):
    """Attributes of one accelerator SKU.

    Figures come from the table in `data/`, whose `sources` column names where each row was read; `confidence` is the
    weaker of the two partial ones, and `weak_fields` says which cells are below it.
    """

    vendor: Vendor
    accelerator_class: AcceleratorClass
    family: str
    architecture: str
    model: str
    sku: str = Field(min_length=1, description="Our stable key.")
    form_factor: str
    launch_year: Annotated[int, Field(ge=2000, le=2100)]
    compute_target: str = Field(description="`sm_90` for CUDA, `gfx942` for AMD, a short name for the rest.")

    rates: Rates
    precisions: Precisions
    precision_notes: str | None = None
    achieved: tuple[tuple[PrecisionWord, Ratio], ...] = Field(
        default=(), description="Measured GEMM rate over dense peak; above 1 when a card clocks over its nominal boost."
    )
    matrix_flops_per_clk_per_unit: Amount | None = None
    peak_clock_mhz: Amount | None = None

    memory_mib: Amount | None = Field(description="Nominal memory of one device; `None` where any amount is fitted.")
    package_memory_mib: Amount | None = Field(description="The nameplate: nominal memory of the whole package.")
    memory_type: str
    bandwidth_mbps: Amount | None = Field(description="Memory bandwidth of one device in MB/s.")
    reported_memory_mib: Amount | None = Field(description="What the vendor's tool reports, where it was seen.")
    package_l2_mib: Amount | None = None
    package_llc_mib: Amount | None = None
    package_compute_units: Amount | None = None
    compute_unit_kind: str
    dies_per_package: Amount
    devices_per_package: Amount

    interconnect: Interconnect
    interconnect_mbps: Annotated[int, Field(ge=0)] | None = Field(
        description="In-node fabric of one package, both directions added; 0 only where there is none."
    )
    interconnect_topology: Topology | None
    pair_mbps: Amount | None = Field(description="What one pair of packages can use, both directions added.")
    pcie_gen: Amount | None = None
    pcie_lanes: Amount | None = None
    tdp_mw: Amount | None = Field(description="Highest normal board limit, divided among the devices of the board.")
    max_per_node: Amount = Field(description="Packages in the usual node.")
    scaleup_domain: Amount | None = Field(description="Packages in one load/store fabric.")
    partitioning: Partitioning
    max_partitions: Amount | None = None
    is_confidential_capable: bool | None = Field(description="Must not be advertised unless it is `True`.")
    supports_mps: bool

    product_name: str | None = Field(description="What the management library calls it.")
    k8s_label_key: str | None = None
    k8s_label: str | None = None
    gke_labels: tuple[str, ...] = ()
    pci_ids: tuple[str, ...] = Field(default=(), description="`vendor:device` in lower case hex; some are shared.")
    k8s_resource_name: str | None = None
    is_inventory_only: bool = Field(description="To be listed, not planned on.")

    confidence: Confidence
    confidence_memory: Confidence
    confidence_compute: Confidence
    weak_fields: tuple[str, ...] = ()
    sources: tuple[str, ...] = Field(min_length=1)
    notes: str | None = None

    @model_validator(mode="after")
    def _no_fabric_means_no_bandwidth(self) -> Self:
        if self.interconnect_mbps == 0 and self.interconnect != "none":
            raise ValueError(
                f"{self.sku}: interconnect bandwidth 0 over {self.interconnect}; leave unknown cells empty"
            )
        return self

    @property
    def achieved_efficiency(self) -> dict[PrecisionWord, float]:
        """Measured GEMM rate over dense peak, for the precisions that were measured on this SKU."""
        return dict(self.achieved)

    @property
    def default_efficiency(self) -> float:
        """The ratio to assume for a precision that was not measured."""
        if self.vendor == "nvidia":
            return _NVIDIA_EFFICIENCY
        if self.architecture in _CDNA_WITH_MATRIX_FP8:
            return _CDNA_EFFICIENCY
        return _OTHER_EFFICIENCY

    def for_core(self) -> dict[str, object]:
        """The part of the profile that decisions read, as plain JSON values.

        Returns:
            One device: `memory_mib`, `bandwidth_mbps`, `tdp_mw` are whole numbers, as are `interconnect_mbps` and
            `pair_mbps`, which stay those of the package that holds the links. `rates` are TFLOPS by precision (only
            known and positive ones), `precisions` support by precision (only known ones), `efficiency` ratios by
            precision. `None` is unknown.
        """
        rates = {word: self.rates.of(word) for word in PRECISIONS}
        supports = {word: self.precisions.of(word) for word in PRECISIONS}
        return {
            "sku": self.sku,
            "vendor": self.vendor,
            "class": self.accelerator_class,
            "model": self.model,
            "memory_mib": self.memory_mib,
            "bandwidth_mbps": self.bandwidth_mbps,
            "rates": {word: rate for word, rate in rates.items() if rate},
            "precisions": {word: support for word, support in supports.items() if support is not None},
            "efficiency": self.achieved_efficiency,
            "default_efficiency": self.default_efficiency,
            "interconnect": self.interconnect,
            "interconnect_topology": self.interconnect_topology,
            "interconnect_mbps": self.interconnect_mbps,
            "pair_mbps": self.pair_mbps,
            "tdp_mw": self.tdp_mw,
            "max_per_node": self.max_per_node * self.devices_per_package,
            "scaleup_domain": self.scaleup_domain and self.scaleup_domain * self.devices_per_package,
        }
