"""Every word that stands after a head, in the order in which they are printed: read, written and documented from here.

A word is `key operator value`, such as `bw>=3TB/s`, or one of the bare words below. The memory floor has no key.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from hetero_ops.gap import value
from hetero_ops.gap.words import (
    BATCH_WORDS,
    BOUND_WORDS,
    LINKS,
    MEMORY_KINDS,
    NIC_WORDS,
    NUMA_WORDS,
    PRECISIONS,
    RDMA_WORDS,
    SHARE_MODES,
    SPREADS,
    STEP_KINDS,
)
from hetero_ops.units import (
    format_bandwidth,
    format_memory,
    format_milli,
    format_power,
    parse_bandwidth,
    parse_memory,
    parse_milli,
    parse_power,
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word with a value.

    Attributes:
        key: what stands before the operator.
        operator: the one that it takes.
        field: the field of a `Choice` that it sets.
        called: its name in messages.
        read: from the text after the operator; raises `ValueError`.
        write: the inverse.
        example: a whole word.
        means: for the documentation.
        is_for_host: whether it says something to the host that runs the step, and nothing to placing.
    """

    key: str
    operator: Literal[">=", "<=", "="]
    field: str
    called: str
    read: Callable[[str], object]
    write: Callable[[Any], str]
    example: str
    means: str
    is_for_host: bool = False

    @property
    def head(self) -> str:
        """Key and operator."""
        return self.key + self.operator


WORDS: tuple[Word, ...] = (
    Word(
        "", ">=", "memory_floor_mib", "memory floor", parse_memory, format_memory,
        ">=80GB", "memory on the box of a device; of a share, what is granted",
    ),
    Word(
        "usable", ">=", "usable_floor_mib", "usable memory floor", parse_memory, format_memory,
        "usable>=79GB", "memory that the device reports",
    ),
    Word(
        "mem", "=", "memory_kind", "memory type", value.one_of(MEMORY_KINDS), str,
        "mem=hbm", "memory technology",
    ),
    Word(
        "link", ">=", "link_floor_mbps", "link bandwidth floor", parse_bandwidth, format_bandwidth,
        "link>=600GB/s", "link bandwidth of a device, all directions added",
    ),
    Word(
        "compute", ">=", "compute_floor_tflops", "compute floor", value.compute_tflops, value.format_compute_tflops,
        "compute>=400", "dense peak in the asked precision, TFLOPS",
    ),
    Word(
        "bw", ">=", "bandwidth_floor_mbps", "memory bandwidth floor", parse_bandwidth, format_bandwidth,
        "bw>=3TB/s", "memory bandwidth",
    ),
    Word(
        "perf", ">=", "performance_floor_milli", "performance floor", parse_milli, format_milli,
        "perf>=0.9", "speed relative to the first choice",
    ),
    Word(
        "units", "=", "units_milli", "compute units", parse_milli, format_milli,
        "units=2.5", "work per hour in units of the reference device, instead of a count",
    ),
    Word(
        "quant", "=", "quantize", "quantization", value.one_of(PRECISIONS), str,
        "quant=int8", "consent to run this choice quantized; its precision, and its memory if a footprint is given",
    ),
    Word(
        "min_precision", "=", "least_precision", "least precision", value.one_of(PRECISIONS), str,
        "min_precision=int8", "least precision that the step may be quantized to",
    ),
    Word(
        "share", "=", "share_mode", "sharing mode", value.one_of(SHARE_MODES), str,
        "share=mps", "how a share of a device may be cut out of it",
    ),
    Word(
        "bound", "=", "bound", "bound", value.one_of(BOUND_WORDS), str,
        "bound=memory", "what slows a share down, compute or memory: of equal devices, one with less of its own kind",
    ),
    Word(
        "numa", "=", "numa", "NUMA word", value.one_of(NUMA_WORDS), str,
        "numa=require", "all devices on one NUMA node",
    ),
    Word(
        "nic", "=", "nic", "NIC word", value.one_of(NIC_WORDS), str,
        "nic=same-root", "each device with a network card on its PCIe root; prefer: those first, if equally good",
    ),
    Word(
        "nodes", "=", "nodes", "number of nodes", value.count_range, value.format_range,
        "nodes=1..2", "nodes that the devices may lie on; one when not said",
    ),
    Word(
        "spread", "=", "spread", "spread", value.one_of(SPREADS), str,
        "spread=rack", "no other step of the team, and no two nodes of this one, in a node, rack or power domain",
    ),
    Word(
        "power", "<=", "power_ceiling_mw", "power ceiling", parse_power, format_power,
        "power<=5600W", "board power of the chosen devices on a node",
    ),
    Word(
        "cost", "<=", "cost_ceiling_milli", "cost ceiling", value.per_hour_milli, value.format_per_hour,
        "cost<=60/h", "price per hour of the chosen devices",
    ),
    Word(
        "driver", ">=", "driver_floor", "driver floor", value.version, str,
        "driver>=570", "driver version of the device's vendor on the node",
    ),
    Word(
        "runtime", "=", "runtimes", "runtime", value.software, value.format_software,
        "runtime=cudnn/miopen", "libraries that the node must have; a slash for either",
    ),
    Word(
        "kind", "=", "kind", "kind of step", value.one_of(STEP_KINDS), str,
        "kind=training", "what the step does: its sharing and speed need follow",
    ),
    Word(
        "pool", "=", "pool", "pool", value.plain, str,
        "pool=train", "the pool of its cluster that it is charged to, instead of the one that takes its kind",
    ),
    Word(
        "batch", "=", "batch", "batch word", value.one_of(BATCH_WORDS), str,
        "batch=scale", "scale: fewer devices will do, with a smaller batch",
    ),
    Word(
        "impact", "=", "impact_milli", "impact", value.percent_milli, value.format_percent,
        "impact=10%", "slowdown that this choice is stated to bring", is_for_host=True,
    ),
    Word(
        "slo", "=", "slo", "target", value.slo, value.format_slo,
        "slo=latency:200ms", "what the running step must keep", is_for_host=True,
    ),
    Word(
        "min_score", "=", "min_score", "least score", value.score, str,
        "min_score=60", "refuse a placement with a lower score",
    ),
    Word(
        "wait", "=", "wait_s", "wait", value.seconds, value.format_seconds,
        "wait=30m", "how long the host holds out for this choice before the next", is_for_host=True,
    ),
    Word(
        "cluster", "=", "clusters", "cluster", value.texts, value.format_texts,
        "cluster=west", "only in these clusters",
    ),
    Word(
        "region", "=", "regions", "region", value.texts, value.format_texts,
        "region=eu-west", "only in these regions",
    ),
    Word(
        "compliance", "=", "compliance", "compliance tag", value.texts, value.format_texts,
        "compliance=gdpr", "only in clusters with all of these tags",
    ),
    Word(
        "data", "=", "data", "data", value.texts, value.format_texts,
        "data=s3://eu-data", "only in clusters that hold all of this data, or what it lies below",
    ),
    Word(
        "near", "=", "near", "near", value.texts, value.format_texts,
        "near=west", "rather in this cluster, or where this data lies; elsewhere when it does not fit there",
    ),
    Word(
        "label", "=", "labels", "label", value.labels, value.format_labels,
        "label=rack:r1", "only on nodes with these labels",
    ),
    Word(
        "image", "=", "image", "image", value.plain, str,
        "image=registry/train:rocm", "image of the step when this choice is granted", is_for_host=True,
    ),
)  # fmt: skip

BARE: dict[str, tuple[str, object, str]] = {
    **{word: ("link", word, "link word") for word in LINKS},
    **{word: ("rdma", word, "network word") for word in RDMA_WORDS},
    "confidential": ("is_confidential", True, "confidential"),
}
"""Words without a value: the field, its value, and what it is called in messages."""

BY_KEY: dict[str, Word] = {word.key: word for word in WORDS}
