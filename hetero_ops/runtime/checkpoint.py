"""The host's side of a checkpoint contract: where a step saves, what it resumes from, and what it is told of both.

The step's side is `hetero_ops.checkpoint`. A host fills the directory's placeholders with `directory_of`, chooses with
`resume`, and sets what `environment` says; `asking` has what happens when the step has to give way.
"""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hetero_ops.checkpoint import is_remote
from hetero_ops.errors import CheckpointUnusable, InvalidRequirement
from hetero_ops.gap.contract import Checkpoint
from hetero_ops.runtime.saved import Saved, Torn, best, look, look_at
from hetero_ops.units import quoted

TORCHRUN_GRACE_S = 30
"""How long torchrun lets its workers live after it forwarded SIGTERM. It has no setting for that."""

SAGEMAKER_FOLDER = "/opt/ml/checkpoints"
"""Where steps that are written for SageMaker save; it has no variable for that."""

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_TORCHRUN_SIGNALS = ("SIGTERM", "SIGINT")
_TORCHRUN_MODULES = ("torch.distributed.run", "torch.distributed.launch")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a try runs, as far as a checkpoint may be bound to it; `None` is unknown."""

    cluster: str | None = None
    vendor: str | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """What a try starts from.

    Attributes:
        path: a folder, or a URL that is passed through untouched; `None` to begin anew.
        saved: what is known of it; `None` for a URL, and when the step begins anew.
        torn: what was skipped on the way, the newest first.
        notes: what a person should read, one sentence each.
    """

    path: str | None
    saved: Saved | None = None
    torn: tuple[Torn, ...] = ()
    notes: tuple[str, ...] = ()


def directory_of(contract: Checkpoint, names: Mapping[str, str]) -> str:
    """The directory of the contract with its placeholders filled, as `{run_id}` and `{task_id}`.

    Args:
        contract: what the step agreed to.
        names: what the host knows, by placeholder.

    Raises:
        InvalidRequirement: a placeholder is none that the host knows, or its value would lead out of the directory.
    """

    def fill(found: re.Match[str]) -> str:
        name = found[1]
        if name not in names:
            known = ", ".join(f"{{{known}}}" for known in sorted(names)) or "no placeholder"
            raise InvalidRequirement(
                f"unknown placeholder {quoted(found[0])}; this host knows {known}", "checkpoint.dir"
            )
        value = names[name]
        if not value or "/" in value or "\0" in value or value in {".", ".."}:
            what = (
                f"{quoted(found[0])} is {quoted(value)}, which is not the name of one folder; use another placeholder"
            )
            raise InvalidRequirement(what, "checkpoint.dir")
        return value

    return _PLACEHOLDER.sub(fill, contract.dir)


def environment(contract: Checkpoint, directory: str, resume: Resume, here: Place | None = None) -> dict[str, str]:
    """The variables by which a step knows its contract; what is unknown is an empty value.

    Args:
        contract: what the step agreed to.
        directory: where it saves, as `directory_of` says.
        resume: what it starts from.
        here: where it runs; our own checkpoints note that.
    """
    values = {
        "HETERO_OPS_CHECKPOINT_DIR": directory,
        "HETERO_OPS_CHECKPOINT_EVERY_SECONDS": "" if contract.every_s is None else str(contract.every_s),
        "HETERO_OPS_CHECKPOINT_SIGNAL": contract.signal,
        "HETERO_OPS_CHECKPOINT_RESUME": contract.resume,
        "HETERO_OPS_RESUME_FROM": resume.path or "",
        "HETERO_OPS_GRACE_SECONDS": str(contract.grace_s),
        "HETERO_OPS_CLUSTER": (here and here.cluster) or "",
    }
    if "vertex" in contract.aliases:
        values["AIP_CHECKPOINT_DIR"] = directory
    return values


def links(contract: Checkpoint, directory: str) -> dict[str, str]:
    """Folders that the step expects elsewhere, by where it expects them: the host links or mounts them.

    The alias `sagemaker` is such a folder, since SageMaker names none in a variable. There is nothing to link for a
    directory that is not local.
    """
    is_expected = "sagemaker" in contract.aliases and not is_remote(directory)
    return {SAGEMAKER_FOLDER: directory} if is_expected else {}


def resume(
    contract: Checkpoint,
    directory: str,
    here: Place | None = None,
    last: Place | None = None,
    *,
    before: Collection[str] | None = None,
) -> Resume:
    """Chooses what the next try starts from.

    `latest` is the newest whole checkpoint, `best` the one that `saved.best` says, anything else is a path, relative to
    the directory; what was saved since the first try goes before these two. `none` begins anew, whatever there is.
    Torn ones are skipped. A directory that is not local is not looked into.

    With `portable: false` a checkpoint is for the cluster and the vendor it was saved on. It notes these itself where
    `hetero_ops.checkpoint` wrote it; of others `last` is believed.

    Args:
        contract: what the step agreed to.
        directory: where it saves, as `directory_of` says.
        here: where the next try runs.
        last: where the last try ran.
        before: what was there before the first try, as `saved.known` says; `None` for the first try.

    Raises:
        CheckpointUnusable: the path that is asked for is no whole checkpoint, or what there is may not be taken here.
    """
    if contract.resume == "none":
        return Resume(None)
    if is_remote(directory) or is_remote(contract.resume):
        asked = contract.resume if is_remote(contract.resume) else directory
        return Resume(asked, notes=(f"{asked} is not local: it is passed on as it is, and the step finds its newest",))
    chosen = _chosen(contract, directory, before)
    if chosen.saved is None or contract.portable:
        return chosen
    notes = _bound(chosen.saved, here or Place(), last or Place())
    return Resume(chosen.path, chosen.saved, chosen.torn, (*chosen.notes, *notes))


def warnings_on(contract: Checkpoint | None, command: Sequence[str]) -> list[str]:
    """What of a contract will not work as a person may think, for a command; one sentence each.

    Args:
        contract: what the step agreed to; `None` where it did not say.
        command: what runs, word by word.
    """
    if contract is None:
        return []
    found = []
    if contract.every_s is None:
        found.append(
            "checkpoint: no `every`: what is saved only when asked is lost when a step is killed without notice, or "
            "is too far from its next look; add every: 10m"
        )
    if _is_torchrun(command):
        if contract.grace_s > TORCHRUN_GRACE_S:
            found.append(
                f"checkpoint: grace is {contract.grace_s}s, but torchrun kills its workers {TORCHRUN_GRACE_S}s after "
                f"SIGTERM, and cannot be told otherwise; make the save quicker, or rely on `every`"
            )
        if contract.signal not in _TORCHRUN_SIGNALS:
            found.append(f"checkpoint: torchrun does not forward {contract.signal} to its workers; use signal: SIGTERM")
    return found


def _chosen(contract: Checkpoint, directory: str, before: Collection[str] | None) -> Resume:
    newest = _newest(directory)
    is_later = before is not None and newest.saved is not None and newest.saved.key not in before
    if contract.resume == "latest" or is_later:
        return newest
    if contract.resume == "best":
        found = best(directory)
        return newest if found is None else replace(newest, path=str(found.path), saved=found)
    path = Path(directory) / contract.resume
    named = look_at(path)
    if isinstance(named, Torn):
        what = f"{path} cannot be resumed from: {named.why}"
        raise CheckpointUnusable(f"{what}; name another one, or say resume: latest")
    return Resume(str(path), named)


def _newest(directory: str) -> Resume:
    torn: list[Torn] = []
    for found in look(directory, is_thorough=True):
        if isinstance(found, Saved):
            return Resume(str(found.path), found, tuple(torn), _skipped(torn))
        torn.append(found)
    return Resume(None, None, tuple(torn), _skipped(torn))


def _skipped(torn: Sequence[Torn]) -> tuple[str, ...]:
    return tuple(f"{found.path.name} is skipped: {found.why}" for found in torn)


def _bound(saved: Saved, here: Place, last: Place) -> list[str]:
    """Refuses what may not be taken along; notes of what it is not known."""
    notes = []
    for what, was, now in (
        ("cluster", saved.cluster or last.cluster, here.cluster),
        ("vendor", saved.vendor or last.vendor, here.vendor),
    ):
        if was is None or now is None:
            notes.append(f"{saved.path.name} is not portable, and its {what} is not known; it is taken all the same")
        elif was != now:
            refused = f"{saved.path} was saved on {what} {was} and is not portable: it cannot be resumed on {now}"
            advice = (
                f"run it on {was}, or say portable: true if another can go on from it, or resume: none to begin anew"
            )
            raise CheckpointUnusable(f"{refused}; {advice}")
    return notes


def _is_torchrun(command: Sequence[str]) -> bool:
    """Whether a command is torchrun, itself or as a module, also within `sh -c`."""
    words = [word for given in command for word in (_words(given) if " " in given else [given])]
    return any(word.rpartition("/")[2] == "torchrun" or word in _TORCHRUN_MODULES for word in words)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an open quote: whatever it is, it is the command's own affair
        return text.split()
