"""The names of accelerators that a site's catalog file describes."""

from hetero_ops.document.field import Field
from hetero_ops.gap.names import Naming, tokens_of
from hetero_ops.gap.profile import Profile
from hetero_ops.units import format_memory


def naming_of(entry: Field, profile: Profile, base: Profile | None, old: Naming | None) -> Naming:
    """The naming of an entry's accelerator.

    Args:
        entry: its `names` are phrases that name it, its `words` may come along.
        profile: what was read from it.
        base: what it extends. A changed accelerator keeps its names. A derived one shares them, as an H100 of another
            size is an H100 too, but with its own memory, form factor and memory type.
        old: the naming of `base`.

    Raises:
        InvalidDocument: a name is no text.
    """
    phrases = [item.string() or "" for item in entry.get("names").items()]
    words = {token for item in entry.get("words").items() for token in tokens_of(item.string() or "")}
    known = [phrase for phrase, _ in old.identities] if old else [profile.model]
    if old and base and base.sku == profile.sku:
        return Naming.of(profile.sku, dict.fromkeys((*known, *phrases)), old.optional | words, old.variants)
    own = {profile.vendor, *_written(entry, profile, is_derived=base is not None)}
    optional = {token for text in own for token in tokens_of(text)} | _size(profile)
    inherited = old.optional - _size(base) if old and base else frozenset()
    return Naming.of(profile.sku, dict.fromkeys((*known, profile.sku, *phrases)), inherited | optional | words)


def _written(entry: Field, profile: Profile, *, is_derived: bool) -> list[str]:
    texts = {"form_factor": profile.form_factor, "memory_type": profile.memory_type}
    return [text for key, text in texts.items() if text and (not is_derived or entry.get(key).value is not None)]


def _size(profile: Profile) -> frozenset[str]:
    """The token by which names give the memory of a profile."""
    size = profile.package_memory_mib
    return frozenset() if size is None else frozenset(tokens_of(format_memory(size)))
