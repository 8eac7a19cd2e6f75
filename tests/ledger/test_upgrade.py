"""A database of the first schema is brought up to the present one with nothing lost; a newer one is refused."""

import sqlite3
from pathlib import Path

import pytest
from alembic.command import upgrade
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from hetero_ops.errors import LedgerUnusable
from hetero_ops.ledger import migrations, schema
from hetero_ops.ledger.history import decision, events
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.reservation import State

# Written by the first version of the program, as `.dump` of sqlite3 prints it.
_FIRST = Path(__file__).with_name("first_schema.sql")


def _config(connection: object) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def test_the_last_step_is_the_head() -> None:
    assert ScriptDirectory.from_config(_config(None)).get_current_head() == migrations.HEAD


def test_the_steps_make_the_tables_that_the_program_knows(tmp_path: Path) -> None:
    Ledger.open(str(tmp_path / "ledger.db")).close()
    made = inspect(create_engine(f"sqlite:///{tmp_path / 'ledger.db'}"))
    for name, table in schema.METADATA.tables.items():
        columns = {column["name"]: (str(column["type"]), column["nullable"]) for column in made.get_columns(name)}
        dialect = create_engine("sqlite://").dialect
        assert columns == {c.name: (c.type.compile(dialect), bool(c.nullable)) for c in table.columns}, name
        assert {index["name"] for index in made.get_indexes(name)} == {index.name for index in table.indexes}, name
        assert made.get_pk_constraint(name)["constrained_columns"] == [c.name for c in table.primary_key], name


def test_a_ledger_of_the_first_schema_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(_FIRST.read_text(encoding="utf-8"))
        before = {
            name: connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()  # noqa: S608 - names of ours
            for name in ("reservation", "taken", "event", "decision", "setting")
        }
    connection.close()
    monkeypatch.setattr("socket.gethostname", lambda: "first-host")

    with Ledger.open(str(path)) as ledger:
        found = ledger.find()
        assert [each.state for each in found] == [State.RELEASED, State.RESERVED]
        assert found[1].peak_memory_mib is None
        ledger.heartbeat(found[1].id, peak_memory_mib=7)
        assert ledger.get(found[1].id).peak_memory_mib == 7
        assert decision(ledger, found[1].trace_id) is not None
        assert [event.kind for event in events(ledger)] == ["reserved", "reserved", "released"]
        ledger.release(found[1].id)

    with sqlite3.connect(path) as connection:
        for name in ("event", "decision", "taken"):
            rows = connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()  # noqa: S608
            if name == "taken":
                assert [row[:-1] for row in rows] == [row[:-1] for row in before[name]]
            else:
                assert rows[: len(before[name])] == before[name]
        kept = connection.execute("SELECT * FROM reservation ORDER BY 1").fetchall()
        unchanged = [row[:10] for row in before["reservation"]]
        assert [(row[0], *row[2:10]) for row in kept] == [(row[0], *row[2:]) for row in unchanged]
    connection.close()


def test_an_older_program_refuses_a_newer_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    Ledger.open(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(LedgerUnusable, match=r"the ledger has schema 9999.*upgrade hetero-ops"):
        Ledger.open(str(path))


def test_half_a_step_is_no_step(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        upgrade(_config(connection), "0001")
        connection.commit()
    engine.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE move (id INTEGER)")  # in the way of the second step
    connection.close()
    with pytest.raises(LedgerUnusable, match="already exists"):
        Ledger.open(str(path))
    columns = {column["name"] for column in inspect(create_engine(f"sqlite:///{path}")).get_columns("reservation")}
    assert "peak_memory_mib" not in columns
