"""Bringing a database up to the tables that this version knows."""

from pathlib import Path

from alembic.command import upgrade
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from hetero_ops.errors import LedgerUnusable
from hetero_ops.ledger import migrations


def bring_up(connection: Connection) -> None:
    """Takes the steps that a database lacks, in the transaction of the connection.

    Raises:
        LedgerUnusable: a newer version of the program has been here.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = MigrationContext.configure(connection).get_current_revision()
    if found is not None and found not in known:
        what = f"the ledger has schema {found}, and this version of hetero-ops knows those up to {migrations.HEAD}"
        raise LedgerUnusable(f"{what}; upgrade hetero-ops here: a newer version has written to it")
    upgrade(config, "head")
