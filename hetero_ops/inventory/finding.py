"""What an import or a look at a fleet noticed and could not settle."""

from dataclasses import dataclass
from typing import Literal

FindingCode = Literal[
    "ALLOCATABLE_BELOW_CAPACITY",
    "CLAIM_NOT_READ",
    "DEVICE_WARNING",
    "DRIVER_TOO_OLD",
    "ID_REPEATED",
    "IN_USE_UNATTRIBUTED",
    "LABEL_CONFLICT",
    "MEMORY_CONTRADICTS",
    "MODEL_AMBIGUOUS",
    "NAME_CUT",
    "NODE_MISSING",
    "NODE_NOT_READY",
    "NOT_A_NODE",
    "NOT_OFFERED",
    "PARTITION_STALE",
    "PARTITION_UNKNOWN",
    "PRODUCT_NOT_PRINTED",
    "SOURCES_DIFFER",
    "STALE_SNAPSHOT",
    "TEXT_LEFT_OVER",
    "TOPOLOGY_IGNORED",
    "TRUNCATED",
    "TWO_STACKS",
    "UNKNOWN_DEVICE",
    "UNKNOWN_RESOURCE",
    "UNLABELLED",
    "USED_BEYOND_FREE",
]


@dataclass(frozen=True, order=True, slots=True)
class Finding:
    """One thing that a person should look at; the import went on without it.

    Attributes:
        code: what kind of thing.
        node: the node it is about; empty for the whole input.
        message: what was seen, and what was made of it.
    """

    code: FindingCode
    node: str
    message: str
