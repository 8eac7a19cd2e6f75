"""Commands that are loaded when they are called: what they need takes longer to load than `place` to answer."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

_MODULES = {
    "run": "hetero_ops.cli.run",
    "ledger": "hetero_ops.cli.ledger",
    "report": "hetero_ops.cli.report",
    "serve": "hetero_ops.cli.serve",
}
"""The module of each, which has an `app`."""


class OnDemand(TyperGroup):
    """The commands that are there, and those that are loaded on demand."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - typer's own, as it passes them
        """A placeholder stands for each, so that lists and suggestions know its name."""
        super().__init__(**settings)
        self.commands.update({name: TyperCommand(name) for name in _MODULES})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - types that typer keeps to itself
        """The command of a name, loaded where it has to be."""
        if cmd_name not in _MODULES:
            return super().get_command(ctx, cmd_name)
        command = typer.main.get_command(import_module(_MODULES[cmd_name]).app)
        command.name = cmd_name
        return command
