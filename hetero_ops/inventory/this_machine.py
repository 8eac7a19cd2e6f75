"""What the vendors' tools on this machine print. Nothing is installed or changed, and no rights are needed."""

import platform
import shutil
import subprocess

from hetero_ops.inventory.intake import Handed

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("nvidia-smi", "-q", "-x"),
    ("nvidia-smi", "topo", "-m"),
    ("amd-smi", "static"),
    ("amd-smi", "topology"),
    ("npu-smi", "info"),
    ("hl-smi",),
    ("xpu-smi", "discovery"),
)
_TIMEOUT_S = 30


def node_name() -> str:
    """Give the name of this machine, without its domain."""
    return platform.node().split(".", 1)[0] or "localhost"


def printed() -> list[Handed]:
    """Run the tools that are there, one after the other; those that fail or hang are left out.

    Returns:
        What each printed, named by its command.
    """
    outputs = []
    for command in COMMANDS:
        tool = shutil.which(command[0])
        if tool is None:
            continue
        try:
            done = subprocess.run(  # noqa: S603 - a vendor's tool, without arguments from outside
                [tool, *command[1:]], capture_output=True, timeout=_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and done.stdout.strip():
            outputs.append(Handed(" ".join(command), done.stdout))
    return outputs
