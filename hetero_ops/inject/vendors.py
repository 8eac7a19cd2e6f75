"""Which variable tells a process the devices it may use, and which commands cut a device: one table each.

Of the variables that a vendor's software reads, exactly one is set and the others are removed: set together they filter
one after the other, and the step may end up with no device at all.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Visibility:
    """How a process of one vendor's software is told its devices.

    Attributes:
        variable: the variable that is set.
        conflicting: variables that would filter a second time.
        extra: what else must be set for the ids to mean what the fleet says.
        takes_uuid: whether UUIDs may stand instead of ids.
    """

    variable: str
    conflicting: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()
    takes_uuid: bool = False


# By vendor and class of the device. Ids are those of the vendor's tools: in PCI order.
VISIBILITY = {
    ("nvidia", "gpu"): Visibility(
        "CUDA_VISIBLE_DEVICES", extra=(("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),), takes_uuid=True
    ),
    # ROCr filters first, HIP and CUDA index into what remains.
    ("amd", "gpu"): Visibility(
        "ROCR_VISIBLE_DEVICES", conflicting=("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
    ),
    ("intel", "gpu"): Visibility(
        "ZE_AFFINITY_MASK",
        conflicting=("ONEAPI_DEVICE_SELECTOR",),
        extra=(("ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE"),),  # a number names a card, not one of its tiles
    ),
    ("intel", "npu"): Visibility("HABANA_VISIBLE_MODULES", conflicting=("HABANA_VISIBLE_DEVICES",)),
    ("huawei", "npu"): Visibility("ASCEND_RT_VISIBLE_DEVICES"),  # ascending order only, which grants are in
    ("google", "tpu"): Visibility("TPU_VISIBLE_CHIPS"),
}

# An empty list hides every device; set for steps that were granted none.
HIDING = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")

# By vendor and whether partitions have slices: MIG takes a name and the memory slice at which it begins. A mode is
# called by how it divides compute and memory, `cpx_nps1`; memory stays as it is where only one device is cut.
CUTTING = {
    ("nvidia", True): ("nvidia-smi -i {device} -mig 1", "nvidia-smi mig -i {device} -cgi {slices} -C"),
    ("amd", False): ("amd-smi set --gpu {device} --compute-partition {mode}",),
}
