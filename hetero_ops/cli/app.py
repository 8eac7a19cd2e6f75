"""The command line as a whole: its commands, and how errors of the package end it."""

import sys
from collections.abc import Sequence

import click
import typer

from hetero_ops.cli import catalog, demo, explain, fleet, frag, place
from hetero_ops.cli.exit_code import ExitCode
from hetero_ops.cli.output import note
from hetero_ops.errors import HeteroOpsError, InvalidDocument, InvalidRequirement, UnknownDevice

app = typer.Typer(
    name="hetero-ops",
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
app.add_typer(fleet.app, name="fleet")
app.add_typer(catalog.app, name="catalog")
app.command("demo")(demo.demo)


def _version(*, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - only this option needs it

        typer.echo(f"hetero-ops {version('hetero-ops')}")
        raise typer.Exit


@app.callback()
def root(
    *, version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version.")
) -> None:
    """Place pipeline steps on mixed accelerator fleets, and read why not."""
    del version  # the callback acted on it


def run(arguments: Sequence[str]) -> int:
    """Runs one command; returns the exit code. Mistakes of the user end in one clear line, never in a traceback."""
    try:
        code = typer.main.get_command(app).main(list(arguments), prog_name="hetero-ops", standalone_mode=False)
    except InvalidRequirement as error:
        note(f"hetero-ops: bad request: {error}")
        return ExitCode.BAD_REQUEST
    except UnknownDevice as error:
        note(f"hetero-ops: {error}")
        return ExitCode.BAD_REQUEST
    except InvalidDocument as error:
        note(f"hetero-ops: {error}")
        return ExitCode.BAD_FLEET
    except HeteroOpsError as error:
        note(f"hetero-ops: {error}")
        return 1
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        sys.stdout = None  # the reader is gone: nothing is left to flush to
        return 0
    return code if isinstance(code, int) else 0
