"""The name of a MIG profile, from what is printed of an instance: no listing of devices prints the name itself."""

from dataclasses import dataclass

from hetero_ops.gap.profile import Profile

# Which engines of an instance are as many as its compute slices. Read off the profile tables of `nvidia-smi mig -lgip`
# and of NVIDIA's MIG User Guide: decoders do not follow the slices on Ampere, nor copy engines on Blackwell.
_ENGINES_LIKE_SLICES = {"sm_80": "copy", "sm_90": "decoder", "sm_100": "decoder", "sm_120": "copy"}
_MEMORY_PARTS = 8
_MIB_PER_GIB = 1024


@dataclass(frozen=True, slots=True)
class Instance:
    """A GPU instance as printed; `None` is unknown.

    Attributes:
        gpu_instance: its id on the card.
        memory_mib: its memory.
        engines: engines by kind: `copy`, `decoder`, `ofa` (optical flow).
        uuid: its UUID.
        used_mib: how much of its memory is in use.
    """

    gpu_instance: int
    memory_mib: int | None
    engines: dict[str, int]
    uuid: str | None = None
    used_mib: int | None = None


def profile_name(instance: Instance, card_mib: int | None, profile: Profile | None) -> str | None:
    """Give the name of the profile of an instance, as `3g.40gb`; `None` where what is printed leaves it open.

    The memory in the name is the share of the card in eighths, rounded up, times the memory of the card in GiB, rounded
    up: the rule of NVIDIA's go-nvlib. `+me` is known by the optical flow engine, which only such an instance and a
    whole card have. `+gfx`, `-me` and `+me.all` of the RTX PRO 6000 are not told from the plain profile.

    Args:
        instance: the instance.
        card_mib: memory that the card reports.
        profile: of the card.
    """
    if not instance.memory_mib or not card_mib or instance.memory_mib > card_mib or profile is None:
        return None
    parts = -(-_MEMORY_PARTS * instance.memory_mib // card_mib)
    slices = _slices(instance, parts, profile)
    if slices is None:
        return None
    card_gib = -(-card_mib // _MIB_PER_GIB)
    memory_gib = (2 * parts * card_gib + _MEMORY_PARTS) // (2 * _MEMORY_PARTS)  # half a GiB is rounded up
    has_media = parts < _MEMORY_PARTS and instance.engines.get("ofa", 0) > 0
    return f"{slices}g.{memory_gib}gb{'+me' if has_media else ''}"


def _slices(instance: Instance, parts: int, profile: Profile) -> int | None:
    most = profile.max_partitions if profile.partitioning == "mig" else None
    if most is None or parts == _MEMORY_PARTS:
        return most
    engines = instance.engines.get(_ENGINES_LIKE_SLICES.get(profile.compute_target or "", ""), 0)
    return engines if 0 < engines <= most else None
