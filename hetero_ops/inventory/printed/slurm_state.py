"""The state of a node of Slurm (`IDLE+CLOUD+MAINTENANCE`) as a state of the fleet document."""

from hetero_ops.document.refusal import shown
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.printed.printed_value import known

# Slurm's own words, see `man scontrol` and `man sinfo` on node states.
_TAKING_WORK = ("IDLE", "ALLOCATED", "MIXED", "COMPLETING")
_NOT_USABLE = (
    "DOWN",
    "ERROR",
    "FAIL",
    "FUTURE",
    "INVAL",
    "INVALID_REG",
    "MAINT",
    "MAINTENANCE",
    "NOT_RESPONDING",
    "REBOOT_ISSUED",
    "UNKNOWN",
)
_DRAINING = ("DRAIN", "DRAINED", "DRAINING", "REBOOT_REQUESTED")
_CLOSED = ("BLOCKED", "POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "POWER_DOWN", "RESERVED")
_NEUTRAL = (
    "CLOUD",
    "DYNAMIC_FUTURE",
    "DYNAMIC_NORM",
    "EXTERNAL",
    "PERFCTRS",
    "PLANNED",
    "POWER_UP",
    "RESUME",
    "UNDRAIN",
)
# Marks that follow the word where states are printed short.
_MARKS = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "%": "POWERING_DOWN",
    "!": "POWER_DOWN",
    "$": "MAINTENANCE",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}


def read_state(text: str, node: str, reason: str | None, findings: list[Finding]) -> str | None:
    """Read the value of `State`.

    Returns:
        The state of the fleet document; `None` when none is printed. A word that is not known makes the node cordoned:
        better one node too few than work on one that takes none.
    """
    if known(text) is None and text.strip().upper() != "UNKNOWN":
        return None
    words = {_MARKS.get(mark, mark) for word in text.upper().split("+") for mark in _split(word.strip())}
    because = f", {shown(known(reason))}" if known(reason) else ""
    if words & {*_NOT_USABLE}:
        findings.append(Finding("NODE_NOT_READY", node, f"State={text}{because}; taken as in maintenance"))
        return "maintenance"
    if words & {*_DRAINING}:
        return "draining"
    strange = words - {*_TAKING_WORK, *_CLOSED, *_NEUTRAL}
    if strange:
        message = f"State={text} has {', '.join(sorted(strange))}, which is not known; taken as cordoned"
        findings.append(Finding("TEXT_LEFT_OVER", node, message))
        return "cordoned"
    if words & {*_CLOSED} or not words & {*_TAKING_WORK}:
        return "cordoned"
    return "active"


def _split(word: str) -> list[str]:
    bare = word.rstrip("".join(_MARKS))
    return [bare, *word[len(bare) :]]
