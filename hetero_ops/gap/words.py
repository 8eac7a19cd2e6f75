"""The words that profiles and requirements share, each in the one order in which we list and print them."""

from typing import Literal, get_args

Vendor = Literal[
    "nvidia",
    "amd",
    "intel",
    "huawei",
    "google",
    "aws",
    "cambricon",
    "groq",
    "qualcomm",
    "hygon",
    "iluvatar",
    "moorethreads",
    "metax",
    "cerebras",
    "apple",
]
AcceleratorClass = Literal["gpu", "npu", "tpu", "lpu", "cpu"]
AskedClass = Literal["gpu", "npu", "tpu", "lpu", "cpu", "accel"]
"""A class as a person asks for it; `accel` is any of them but `cpu`."""

PrecisionWord = Literal["fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4", "int8", "int4"]
Support = Literal["native", "degraded", "unsupported"]
"""What the hardware does with a precision; `degraded` runs, but too slowly to be a reason to choose the device."""

AskedSupport = Literal["native", "weight", "any"]
"""What a step asks of a precision: matrix units for it, storage of weights in it, or either."""

LinkWord = Literal["fabric", "nvlink", "xgmi"]
RdmaWord = Literal["rdma", "roce", "ib"]
"""Remote memory access between nodes; `rdma` is either of the two."""

MemoryKind = Literal["hbm", "gddr", "lpddr", "ddr"]
ShareMode = Literal["exclusive", "mig", "mps", "time-slice", "any"]
"""How a device may be shared; `mig` stands for hardware partitions of every vendor."""

BoundWord = Literal["compute", "memory"]
"""What the speed of a step that shares a device hangs on: its rate, or its memory bandwidth."""

Isolation = Literal["hard", "soft"]
"""Whether memory and faults of neighbours are fenced by hardware, as partitions are, or not."""

NumaWord = Literal["require", "prefer"]
NicWord = Literal["same-root", "prefer"]
"""Whether each device must have a network card on its PCIe root, or should where that costs nothing."""

StepKind = Literal["training", "inference", "preprocess", "dev"]
BatchWord = Literal["keep", "scale"]
Spread = Literal["none", "node", "rack", "power"]
"""What no two steps of a team, and no two nodes of one step, may share; `power` is a power domain."""

Toolkit = Literal["cuda", "rocm", "oneapi", "gaudi", "cann", "neuware"]
"""What code was built for. It runs on the devices of one vendor, unless it is translated."""

Nearness = Literal["node", "switch", "rack"]
NameMatch = Literal["any", "exact", "newer"]
Confidence = Literal["verified-in-datasheet", "secondary", "recollection"]

VENDORS: tuple[Vendor, ...] = get_args(Vendor)
ASKED_CLASSES: tuple[AskedClass, ...] = get_args(AskedClass)
PRECISIONS: tuple[PrecisionWord, ...] = get_args(PrecisionWord)
ASKED_SUPPORTS: tuple[AskedSupport, ...] = get_args(AskedSupport)
LINKS: tuple[LinkWord, ...] = get_args(LinkWord)
RDMA_WORDS: tuple[RdmaWord, ...] = get_args(RdmaWord)
MEMORY_KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
SHARE_MODES: tuple[ShareMode, ...] = get_args(ShareMode)
BOUND_WORDS: tuple[BoundWord, ...] = get_args(BoundWord)
NUMA_WORDS: tuple[NumaWord, ...] = get_args(NumaWord)
NIC_WORDS: tuple[NicWord, ...] = get_args(NicWord)
STEP_KINDS: tuple[StepKind, ...] = get_args(StepKind)
BITS: dict[PrecisionWord, int] = {
    "fp64": 64,
    "fp32": 32,
    "tf32": 32,
    "bf16": 16,
    "fp16": 16,
    "fp8": 8,
    "fp6": 6,
    "fp4": 4,
    "int8": 8,
    "int4": 4,
}
"""Storage of one weight. TF32 is a way to multiply; its numbers are stored as FP32."""
SPREADS: tuple[Spread, ...] = get_args(Spread)
BATCH_WORDS: tuple[BatchWord, ...] = get_args(BatchWord)
