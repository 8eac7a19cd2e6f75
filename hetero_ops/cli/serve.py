"""`hetero-ops serve`: answers over HTTP, and the tokens that say who may ask what."""

import os
from pathlib import Path
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.output import note
from hetero_ops.errors import ServiceUnusable
from hetero_ops.service.token_file import Scope, Tokens, new_token

app = typer.Typer(invoke_without_command=True)

_HOST, _PORT = "127.0.0.1", 8470


@app.callback()
def serve(
    context: typer.Context,
    fleet: option.FleetSource = "",
    ledger: option.Ledger = None,
    mix: option.MixFile = None,
    measured: option.Measured = None,
    host: Annotated[str, typer.Option("--host", help="Address; any but this machine's own needs tokens.")] = _HOST,
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="Port; 0 takes a free one.")] = _PORT,
    tokens: Annotated[
        Path | None,
        typer.Option(
            "--tokens",
            envvar="HETERO_OPS_TOKENS",
            show_default=False,
            help="File with lines `name scope sha256hex`; `hetero-ops serve token` makes them.",
        ),
    ] = None,
) -> None:
    """Answer over HTTP until told to end. The fleet is loaded once; what is booked is in the ledger.

    [bold]Examples[/bold]

        hetero-ops serve --fleet fleet.yaml

        hetero-ops serve --fleet fleet.yaml --host 0.0.0.0 --tokens tokens.txt
    """
    if context.invoked_subcommand is not None:
        return
    try:
        from hetero_ops.service.app import make_app  # noqa: PLC0415 - needs the extra
        from hetero_ops.service.metrics import CountingLedger  # noqa: PLC0415
        from hetero_ops.service.server import is_local, listen  # noqa: PLC0415
        from hetero_ops.service.server import serve as run  # noqa: PLC0415
        from hetero_ops.service.warm import WarmFleet  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ServiceUnusable(f"{error.name} is missing; pip install 'hetero-ops[service]'") from None
    known = None if tokens is None else Tokens.load(tokens)
    listening = listen(host, port, known)
    opened = CountingLedger.open(ledger)
    warm = WarmFleet.load(fleet, opened, mix=mix, measured=measured)
    note(f"hetero-ops: {fleet} on {listening.url}, ledger {opened.url}, process {os.getpid()}")
    note(f"hetero-ops: {_who(known)}")
    if not is_local(host):
        note("hetero-ops: this is plain HTTP: put TLS in front, or tokens can be read on the way")
    run(make_app(warm, opened, known), listening)


@app.command("token")
def token_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose token it is; reservations remember it.")],
    scope: Annotated[str, typer.Argument(metavar="SCOPE", help="read, place or admin.")],
) -> None:
    """Make a token: it is shown once, and the line for the tokens file has only its digest.

    [bold]Example[/bold]

        hetero-ops serve token airflow place
    """
    try:
        token, line = new_token(name, Scope.of(scope))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    note("hetero-ops: the token, shown this once; its owner sets it as HETERO_OPS_TOKEN:")
    note(token)
    note("hetero-ops: the line for the file of --tokens:")
    typer.echo(line)


def _who(tokens: Tokens | None) -> str:
    if tokens is None:
        return "no tokens: whoever is on this machine may do everything"
    return f"{len(tokens)} tokens: read, place or admin as the file says"
