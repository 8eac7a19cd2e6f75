"""Old spellings of a vendor and of links: read as what is meant, each with a warning, and never printed."""

import warnings
from collections.abc import Mapping

from hetero_ops.errors import OldSpelling
from hetero_ops.units import quoted

OLD_VENDORS = {"int": "intel"}
OLD_WORDS = {"xflink": "xgmi", "nes": "fabric"}
"""Link words of a requirement. No fabric is known by the name of `nes`, so any one will do."""

OLD_INTERCONNECTS = {"xflink": "infinity_fabric", "rdma": "roce", "nes": ""}
"""What a catalog entry may say; `nes` says nothing that is known."""


def current(word: str, spellings: Mapping[str, str]) -> str:
    """The word to use for an old spelling, with a warning; any other word as it is.

    Returns:
        Empty where the old spelling has no meaning that is known.

    Warns:
        OldSpelling: with the word to write instead.
    """
    meant = spellings.get(word.lower())
    if meant is None:
        return word
    told = f"is an old spelling, read as {quoted(meant)}; write that" if meant else "names nothing known; leave it out"
    warnings.warn(f"{quoted(word)} {told}", OldSpelling, stacklevel=2)
    return meant
