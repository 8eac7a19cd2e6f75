"""`hetero-ops explain --trace`: a decision as it stood, and what became of it."""

from dataclasses import asdict
from json import loads
from pathlib import Path

from hetero_ops.cli.age import of_ms
from hetero_ops.cli.exit_code import of_decision
from hetero_ops.cli.output import print_decision, to_json, write
from hetero_ops.errors import UnknownReservation
from hetero_ops.ledger.history import decision, events
from hetero_ops.ledger.ledger import Ledger


def explain_trace(trace_id: str, ledger: str | None, *, json: bool, output: Path | None) -> int:
    """Prints a decision that the ledger has, with the reservations that came of it.

    Raises:
        UnknownReservation: the ledger has no such decision.
    """
    with Ledger.open(ledger) as opened:
        found = decision(opened, trace_id)
        if found is None:
            kept = "decisions are kept when they are booked"
            raise UnknownReservation(f"{opened.url} has no decision {trace_id}; {kept}, and by `place --record`")
        made, at_ms = found
        reservations = opened.find(trace_id=trace_id)
        happened = {each.id: events(opened, each.id) for each in reservations}
    if json:
        booked = [
            {"id": each.id, "state": each.state, "events": list(map(asdict, happened[each.id]))}
            for each in reservations
        ]
        write(to_json({"decision": loads(made.to_json()), "at": of_ms(at_ms), "reservations": booked}), output)
        return of_decision(made)
    text = f"  decided {of_ms(at_ms)}\n"
    for each in reservations:
        text += f"  reservation {each.id} of {each.owner}: {each.state}\n"
        text += "".join(f"    {of_ms(event.at_ms)}  {event.kind} by {event.by}\n" for event in happened[each.id])
    print_decision(made.verdict, made.why() + text, output)
    return of_decision(made)
