"""The command line as a whole: its commands, and how errors of the package end it."""

import warnings
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from hetero_ops.cli import catalog, demo, explain, fleet, frag, place, simulate
from hetero_ops.cli.exit_code import ExitCode
from hetero_ops.cli.on_demand import OnDemand
from hetero_ops.cli.output import note
from hetero_ops.errors import (
    CheckpointUnusable,
    HeteroOpsError,
    InvalidDocument,
    InvalidRequirement,
    LedgerUnusable,
    NotAllowed,
    ReservationConflict,
    ServiceUnusable,
    UnknownDevice,
    UnknownReservation,
)
from hetero_ops.log_lines import log_json


def _end(code: int | None, **_: object) -> None:
    raise typer.Exit(code or 0)


app = typer.Typer(
    name="hetero-ops",
    cls=OnDemand,
    result_callback=_end,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Place pipeline steps on mixed accelerator fleets, and read why not.",
    epilog="Exit codes: 0 placed, 10 degraded, 64 bad request, 65 bad fleet file, 69 impossible, 75 busy, 2 wrong use.",
)
app.command("place")(place.place)
app.command("explain")(explain.explain)
app.command("frag")(frag.frag)
app.command("simulate")(simulate.simulate)
app.add_typer(fleet.app, name="fleet")
app.add_typer(catalog.app, name="catalog")
app.command("demo")(demo.demo)


class LogForm(StrEnum):
    """Forms of log lines."""

    text = "text"
    json = "json"


def _version(*, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - only this option needs it

        typer.echo(f"hetero-ops {version('hetero-ops')}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    log: Annotated[
        LogForm, typer.Option("--log", envvar="HETERO_OPS_LOG", help="How what happens meanwhile is told on stderr.")
    ] = LogForm.text,
) -> None:
    """Place pipeline steps on mixed accelerator fleets, and read why not."""
    del version  # the callback acted on it
    if log is LogForm.json:
        log_json()


# How each mistake of the user ends a command; the first class that matches counts.
_ENDINGS: tuple[tuple[type[HeteroOpsError], str, int], ...] = (
    (InvalidRequirement, "bad request: ", ExitCode.BAD_REQUEST),
    (UnknownDevice, "", ExitCode.BAD_REQUEST),
    (UnknownReservation, "", ExitCode.BAD_REQUEST),
    (CheckpointUnusable, "", ExitCode.BAD_REQUEST),
    (ReservationConflict, "", ExitCode.BUSY),
    (InvalidDocument, "", ExitCode.BAD_FLEET),
    (LedgerUnusable, "", ExitCode.BAD_FLEET),
    (ServiceUnusable, "", ExitCode.BAD_FLEET),
    (NotAllowed, "", ExitCode.BAD_FLEET),
    (HeteroOpsError, "", 1),
)


def _tell(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as a line for a person, without the place in our code that gave it."""
    note(f"hetero-ops: {message}")


def run(arguments: Sequence[str]) -> int:
    """Runs one command; returns the exit code. Mistakes of the user end in one clear line, never in a traceback."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _tell
            app(list(arguments), prog_name="hetero-ops")
    except HeteroOpsError as error:
        prefix, code = next((prefix, code) for kind, prefix, code in _ENDINGS if isinstance(error, kind))
        note(f"hetero-ops: {prefix}{error}")
        return code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0
