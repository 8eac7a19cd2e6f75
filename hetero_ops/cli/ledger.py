"""`hetero-ops ledger`: what is booked, by whom, and what becomes of it."""

import datetime as dt
import getpass
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.age import of_ms, words
from hetero_ops.cli.ledger_export import export
from hetero_ops.cli.output import Format, note, print_table, to_json, write
from hetero_ops.ledger.history import Happened, events
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.reaping import HARD_LIMIT_S, reap
from hetero_ops.ledger.reservation import LIVE, Reservation, State
from hetero_ops.ledger.spending import Spent, spent
from hetero_ops.placement.fleet import Fleet

app = typer.Typer(no_args_is_help=True, help="What is booked, by whom, and what becomes of it.")
app.command("export")(export)

_ReservationId = Annotated[str, typer.Argument(metavar="ID", help="Id of a reservation, as `ledger list` shows it.")]
_WHOLE_MILLI = 1000


@app.command("list")
def list_(
    ledger: option.Ledger = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Those that ended, too.")] = False,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """List reservations, the oldest first: those that hold devices.

    [bold]Examples[/bold]

        hetero-ops ledger list

        hetero-ops ledger list --all --json
    """
    with Ledger.open(ledger) as opened:
        now, found = opened.now_ms(), opened.find(State if all_ else LIVE)
    if json or form is Format.json:
        write(to_json([reservation.to_dict() for reservation in found]), output)
        return
    if not found:
        write("nothing is reserved\n", output)
        return
    columns = ("id", "state", "owner", "team", "choice", "devices", "nodes", "since")
    print_table(columns, [_row(reservation, now) for reservation in found], output)


@app.command()
def show(
    reservation_id: _ReservationId,
    ledger: option.Ledger = None,
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Show a reservation and everything that happened to it.

    [bold]Example[/bold]

        hetero-ops ledger show 3f0c...
    """
    with Ledger.open(ledger) as opened:
        now, found = opened.now_ms(), opened.get(reservation_id)
        happened = events(opened, reservation_id)
    if json or form is Format.json:
        write(to_json({**found.to_dict(), "events": [asdict(event) for event in happened]}), output)
        return
    write("".join(f"{line}\n" for line in _lines(found, happened, now)), output)


@app.command()
def release(
    reservation_id: _ReservationId,
    ledger: option.Ledger = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """End a reservation and give back what it holds. Whatever runs there is not told: look first.

    [bold]Example[/bold]

        hetero-ops ledger release 3f0c... --yes
    """
    with Ledger.open(ledger) as opened:
        found = opened.get(reservation_id)
        holds = f"{found.owner} holds {_devices(found)} of {', '.join(found.nodes)}"
        question = f"{holds}, {_heard(found, opened.now_ms())}. Release?"
        if not yes and not (sys.stdin.isatty() and typer.confirm(question)):
            note(f"hetero-ops: {question} Nothing was changed; --yes does it")
            raise typer.Exit(1)
        opened.release(found.id, by=f"person {getpass.getuser()}")
    note(f"released {found.id}")


@app.command("reap")
def reap_(
    ledger: option.Ledger = None,
    hard_limit_h: Annotated[
        float,
        typer.Option(
            "--hard-limit", metavar="HOURS", min=0, help="Silence after which one of unknown owner is withheld."
        ),
    ] = HARD_LIMIT_S / 3600,
    *,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Free reservations whose owners are gone; withhold those of which nobody knows for too long.

    Of processes on this host it is known whether they run. What may run elsewhere is never given away.

    [bold]Example[/bold]

        hetero-ops ledger reap
    """
    with Ledger.open(ledger) as opened:
        now = opened.now_ms()
        reaped = reap(opened, hard_limit_s=hard_limit_h * 3600, by=f"person {getpass.getuser()}")
    found = {"freed": reaped.expired, "withheld": reaped.orphaned, "kept": reaped.kept}
    if json:
        write(to_json({word: [each.id for each in reservations] for word, reservations in found.items()}), output)
        return
    rows = [
        (word, each.id, str(each.owner), _devices(each), _heard(each, now))
        for word, all_ in found.items()
        for each in all_
    ]
    if rows:
        print_table(("", "id", "owner", "devices", "silent for"), rows, output)
    else:
        write("nothing is late\n", output)


@app.command()
def budget(
    fleet: option.FleetSource,
    ledger: option.Ledger = None,
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Show what teams spent of the budgets that a fleet file states, each in its present window.

    [bold]Example[/bold]

        hetero-ops ledger budget --fleet fleet.yaml
    """
    loaded = Fleet.load(fleet)
    with Ledger.open(ledger) as opened:
        sums = spent(opened, loaded.budgets(), loaded.catalog)
    if json or form is Format.json:
        write(to_json([{**asdict(each), "since": of_ms(each.since_ms)} for each in sums]), output)
        return
    if not sums:
        write("the fleet states no budgets\n", output)
        return
    columns = ("team", "of", "spent", "budget", "left", "unit", "per", "since")
    print_table(columns, map(_budget_row, sums), output)


def _budget_row(each: Spent) -> tuple[str, ...]:
    most, used_milli = each.budget.most_milli, each.spent_milli
    amounts = (f"{milli / _WHOLE_MILLI:g}" for milli in (used_milli, most, max(0, most - used_milli)))
    is_units = each.budget.per == "unit"
    of = "everything" if is_units else f"{each.budget.per} {each.budget.name}"
    unit = "unit-hours" if is_units else "device-hours"
    return (each.budget.team, of, *amounts, unit, each.budget.window, of_ms(each.since_ms))


def _row(reservation: Reservation, now_ms: int) -> tuple[str, ...]:
    late = " (late)" if reservation.is_late(now_ms) else ""
    return (
        reservation.id,
        f"{reservation.state}{late}",
        str(reservation.owner),
        reservation.team or "-",
        str(reservation.terms.get("choice", "-")),
        _devices(reservation),
        ",".join(reservation.nodes),
        of_ms(reservation.since_ms),
    )


def _lines(reservation: Reservation, happened: list[Happened], now_ms: int) -> list[str]:
    priority = "-" if reservation.priority is None else reservation.priority
    lines = [
        f"{reservation.id}: {reservation.state}, {_heard(reservation, now_ms)}",
        f"  asked for   {reservation.requirement}",
        f"  granted     {reservation.terms.get('choice')}: {_devices(reservation)} in {reservation.cluster}",
        *(f"    {hold['node']}: devices {','.join(map(str, hold['devices'])) or '-'}" for hold in reservation.holds),
        f"  owner       {reservation.owner}",
        f"  team        {reservation.team or '-'}, priority {priority}",
        f"  checkpoint  {'none reported' if reservation.checkpoint_ms is None else of_ms(reservation.checkpoint_ms)}",
        f"  trace       {reservation.trace_id}",
    ]
    return [*lines, *(f"  {of_ms(event.at_ms)}  {event.kind} by {event.by}" for event in happened)]


def _devices(reservation: Reservation) -> str:
    milli = reservation.device_milli
    return "1 device" if milli == _WHOLE_MILLI else f"{milli / _WHOLE_MILLI:g} devices"


def _heard(reservation: Reservation, now_ms: int) -> str:
    if reservation.ended_ms is not None:
        return f"ended {of_ms(reservation.ended_ms)} by {reservation.ended_by}"
    return f"last heard of {words(dt.timedelta(milliseconds=now_ms - reservation.heartbeat_ms))} ago"
