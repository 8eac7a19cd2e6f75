"""`Profile`, the GPU Attribute Profile (GAP): what is known of one accelerator SKU.

All figures are those of one schedulable device, the thing a driver shows and a step is given; where a package shows
several (MI250, Ascend 910C), the table's package totals are divided among them. `None` always means unknown.
"""

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from hetero_ops.gap.partition import Partition
from hetero_ops.gap.rates import Amount, Claim, Count, Frozen, Precisions, Rates, Ratio
from hetero_ops.gap.unit import derived_coefficient
from hetero_ops.gap.words import PRECISIONS, AcceleratorClass, Confidence, PrecisionWord, Vendor

if TYPE_CHECKING:
    from hetero_ops.gap.affinity import Affinity
    from hetero_ops.gap.catalog import Catalog
    from hetero_ops.gap.requirement import Requirement

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

Groups = tuple[tuple[int, ...], ...]
"""Device indices of a node, cut into groups that share no device."""

PciId = Annotated[str, Field(pattern="^[0-9a-f]{4}:[0-9a-f]{4}$")]

_MILLI = 1000

_OTHER_EFFICIENCY = 0.65
"""Achieved over peak where nothing was measured: cautious round figures beside the measured ones of `achieved.csv`."""

_NVIDIA_EFFICIENCY = 0.75
_CDNA_EFFICIENCY = 0.60
_CDNA_WITH_MATRIX_FP8 = ("CDNA3", "CDNA4")


class Profile(Frozen):
    """Attributes of one accelerator SKU.

    Figures come from the tables in `data/`, whose `sources` column names where each row was read; `confidence` is the
    weaker of the two partial ones, and `weak_fields` says which cells are below it.
    """

    sku: str = Field(min_length=1, description="Our stable key.")
    vendor: Vendor
    accelerator_class: AcceleratorClass
    model: str = Field(min_length=1)
    family: str | None = None
    architecture: str | None = None
    form_factor: str | None = None
    launch_year: Annotated[int, Field(ge=2000, le=2100, strict=True)] | None = None
    compute_target: str | None = Field(
        default=None, description="`sm_90` for CUDA, `gfx942` for AMD, a short name for the rest."
    )

    rates: Rates = Rates()
    precisions: Precisions = Precisions()
    precision_notes: str | None = None
    supports_mixed_precision: Claim | None = Field(
        default=None, description="Multiplies in half precision in a matrix engine and adds up in a wider one."
    )
    supports_sparsity: Claim | None = Field(
        default=None, description="Structured sparsity: marketed rates may be twice the dense ones given here."
    )
    achieved: tuple[tuple[PrecisionWord, Ratio], ...] = Field(
        default=(), description="Measured GEMM rate over dense peak; above 1 when a card clocks over its nominal boost."
    )
    matrix_flops_per_clk_per_unit: Amount | None = None
    peak_clock_mhz: Amount | None = None

    memory_mib: Amount | None = Field(
        default=None, description="Size class: nominal memory of one device; `None` where any amount is fitted."
    )
    package_memory_mib: Amount | None = Field(
        default=None, description="The nameplate: nominal memory of the whole package."
    )
    reported_memory_mib: Amount | None = Field(
        default=None, description="Usable memory: what the vendor's tool reports, where it was seen."
    )
    memory_type: str | None = None
    bandwidth_mbps: Amount | None = Field(default=None, description="Memory bandwidth of one device in MB/s.")
    supports_memory_pooling: Claim | None = Field(default=None, description="Recorded; decisions do not read it.")
    supports_cxl: Claim | None = Field(default=None, description="Recorded; decisions do not read it.")
    supports_unified_addressing: Claim | None = Field(default=None, description="Recorded; decisions do not read it.")
    package_l2_mib: Amount | None = None
    package_llc_mib: Amount | None = None
    package_compute_units: Amount | None = None
    compute_unit_kind: str | None = None
    dies_per_package: Amount | None = None
    devices_per_package: Count = 1

    interconnect: Interconnect | None = None
    interconnect_mbps: Annotated[int, Field(ge=0, le=2**53, strict=True)] | None = Field(
        default=None,
        description="In-node fabric of one package, both directions added; 0 only where there is none.",
    )
    interconnect_topology: Topology | None = None
    pair_mbps: Amount | None = Field(
        default=None, description="What one pair of packages can use, both directions added."
    )
    interconnect_groups: tuple[Groups, ...] = Field(
        default=(), description="Documented affinity groups, smallest first: each a partition of the node's devices."
    )
    pcie_gen: Amount | None = None
    pcie_lanes: Amount | None = None
    tdp_mw: Amount | None = Field(
        default=None, description="Highest normal board limit, divided among the devices of the board."
    )
    max_temperature_c: Amount | None = Field(default=None, description="Above it the device slows down or stops.")
    thermal_headroom_c: float | None = Field(
        default=None,
        description="Degrees left below that limit: a reading, so unknown in the built-in catalog.",
    )
    max_per_node: Count | None = Field(default=None, description="Devices in the usual node.")
    scaleup_domain: Count | None = Field(default=None, description="Devices in one load/store fabric.")

    is_opaque: Claim = Field(
        default=False,
        description="Handed out as whole nodes, by rules of its own; never ranked by its rates.",
    )
    is_inventory_only: Claim = Field(default=False, description="To be listed, not planned on.")
    is_confidential_capable: Claim | None = Field(
        default=None, description="Must not be advertised unless it is `True`."
    )
    partitioning: Partitioning | None = None
    max_partitions: Amount | None = None
    partitions: tuple[Partition, ...] = ()
    mig_driver_branch: Amount | None = Field(default=None, description="The oldest NVIDIA driver with MIG on it.")
    default_driver: str | None = Field(default=None, description="The driver that a site gives it.")
    supports_mig: Claim | None = None
    supports_mps: Claim = Field(default=False, description="CUDA Multi-Process Service.")
    supports_vgpu: Claim | None = None
    supports_sriov: Claim | None = None
    supports_passthrough: Claim | None = None

    product_name: str | None = Field(default=None, description="What the management library calls it.")
    k8s_label_key: str | None = None
    k8s_label: str | None = None
    gke_labels: tuple[str, ...] = ()
    pci_ids: tuple[PciId, ...] = Field(default=(), description="`vendor:device` in lower case hex; some are shared.")
    k8s_resource_name: str | None = None

    price_per_hour: Ratio | None = Field(default=None, description="Of one device, where a site gives it.")
    currency: str | None = Field(default=None, description="Of the price.")
    unit_coefficient: Ratio | None = Field(
        default=None, description="Compute units per device-hour, where a site gives it; else derived from the rates."
    )

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

    @model_validator(mode="after")
    def _groups_partition_the_node(self) -> Self:
        for groups in self.interconnect_groups:
            indices = sorted(index for group in groups for index in group)
            if indices != list(range(len(indices))) or len(indices) != (self.max_per_node or len(indices)):
                raise ValueError(
                    f"{self.sku}: interconnect groups {groups} are no partition of the devices of a node; "
                    f"name each index from 0 to {(self.max_per_node or len(indices)) - 1} once"
                )
        return self

    @model_validator(mode="after")
    def _partition_names_differ(self) -> Self:
        names = [partition.name for partition in self.partitions]
        if len(names) != len(set(names)):
            raise ValueError(f"{self.sku}: two partitions have one name")
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

    def is_measured(self, precision: PrecisionWord) -> bool:
        """Whether the achieved rate of a precision was measured on this SKU, not assumed."""
        return precision in self.achieved_efficiency

    def achieved_tflops(self, precision: PrecisionWord) -> float | None:
        """The rate of a large GEMM, TFLOPS (TOPS for int8 and int4): dense peak times measured or assumed efficiency.

        Returns:
            `None` where the peak is unknown or the path does not exist, and for every opaque device: its figures do
            not compare with those of others.
        """
        peak = self.rates.of(precision)
        if self.is_opaque or not peak:
            return None
        return peak * self.achieved_efficiency.get(precision, self.default_efficiency)

    @property
    def unit_milli(self) -> int | None:
        """Compute units of one device-hour in thousandths: the site's coefficient, else one derived from the rates."""
        if self.unit_coefficient is not None:
            return max(1, round(self.unit_coefficient * _MILLI))
        derived = derived_coefficient(self.achieved_tflops("bf16") or self.achieved_tflops("fp16"))
        return None if derived is None else max(1, round(derived * _MILLI))

    def affinity(
        self, requirement: "str | Requirement", *, preset: str = "aware", catalog: "Catalog | None" = None
    ) -> "Affinity":
        """How well a device of this profile suits a requirement: see `hetero_ops.gap.affinity.affinity`."""
        from hetero_ops.gap.affinity import affinity  # noqa: PLC0415 - it imports this module, and opens the core

        return affinity(self, requirement, preset=preset, catalog=catalog)

    def for_core(self) -> dict[str, object]:
        """The part of the profile that decisions read, as plain JSON values.

        Returns:
            One device: `memory_mib`, `bandwidth_mbps`, `tdp_mw` are whole numbers, as are `interconnect_mbps` and
            `pair_mbps`, which stay those of the package that holds the links. `rates` are TFLOPS by precision (only
            known and positive ones), `precisions` support by precision (only known ones), `efficiency` ratios by
            precision, `unit_milli` compute units of an hour in thousandths. `None` is unknown.
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
            "max_per_node": self.max_per_node,
            "scaleup_domain": self.scaleup_domain,
            "family": self.family,
            "memory_type": self.memory_type,
            "is_confidential_capable": self.is_confidential_capable,
            "supports_mps": self.supports_mps,
            "is_opaque": self.is_opaque,
            "partitions": [part.for_core() for part in self.partitions],
            "unit_milli": self.unit_milli,
        }
