"""The command `hetero-ops`: one file per command group."""

import sys


def main() -> None:
    """Runs the command line of this process and ends it with the exit code."""
    from hetero_ops.cli.app import run  # noqa: PLC0415 - Typer and Rich load only when a command runs

    sys.exit(run(sys.argv[1:]))
