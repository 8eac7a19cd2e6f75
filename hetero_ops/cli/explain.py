"""`hetero-ops explain`: everything that was considered for one step."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hetero_ops.cli import option
from hetero_ops.cli.exit_code import of_decision
from hetero_ops.cli.output import Format, print_decision, to_json, write
from hetero_ops.cli.question import Answering, answering, read_requirement, read_weights, warn
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.meaning import profiles_meant
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.shorthand import name_of
from hetero_ops.gap.tier import is_tier, profiles_in
from hetero_ops.placement.decision import Decision
from hetero_ops.placement.report import ChoiceReport, Reason, Term

# Candidates of a choice shown as text; JSON has all.
_SHOWN = 5


def explain(
    request: option.OptionalRequest = None,
    fleet: option.FleetOrService = "",
    mix: option.MixFile = None,
    measured: option.Measured = None,
    rules: option.Rules = None,
    weights: option.Weights = None,
    policy: option.Policy = "aware",
    seed: option.Seed = 0,
    *,
    trace: Annotated[
        str | None,
        typer.Option("--trace", metavar="ID", help="A decision as it stood, from the ledger, instead of REQ."),
    ] = None,
    ledger: option.Ledger = None,
    expand: Annotated[bool, typer.Option("--request", help="Only print the expanded requirement; no fleet.")] = False,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> int:
    """Show every candidate with the terms of its score, every refusal with its numbers, and the counts of each stage.

    [bold]Examples[/bold]

        hetero-ops explain 'H100:8 fabric' --fleet fleet.yaml

        hetero-ops explain 'H100:8 | A100:8 where >=80GB' --request

        hetero-ops explain --trace 5a8d67690282a8962d1633dd29a197cd
    """
    if (request is None) == (trace is None):
        raise typer.BadParameter("give a requirement, or --trace with the id of a decision", param_hint="REQ")
    if trace is not None:
        from hetero_ops.cli.trace import explain_trace  # noqa: PLC0415 - only this option needs the ledger

        return explain_trace(trace, ledger, json=json or form is Format.json, output=output)
    requirement = read_requirement(request or "", rules)
    if expand:
        write(to_json(_expanded(requirement)), output)
        return 0
    table = read_weights(weights)
    with answering(fleet, mix, measured) as asked:
        warn(requirement, asked)
        explanation = asked.explain(requirement, policy=policy, seed=seed, weights=table)
        tiers = _tiers(requirement, asked)
    decision = Decision.from_json(to_json(explanation["decision"]))
    if json or form is Format.json:
        write(to_json(explanation), output)
    else:
        _print(decision, tiers, explanation["choices"], output)
    return of_decision(decision)


def _expanded(requirement: Requirement) -> dict[str, Any]:
    """The whole requirement, nothing left to defaults, with the catalog keys that each name stands for."""
    catalog = Catalog.default()
    names = {name for choice in requirement.choices for name in choice.names}
    meant = {name_of(name): [profile.sku for profile in profiles_meant(name, catalog)] for name in names}
    return {
        "requirement": str(requirement),
        **requirement.model_dump(mode="json"),
        "names": dict(sorted(meant.items())),
    }


def _tiers(requirement: Requirement, fleet: Answering) -> list[str]:
    """What each class of speed that is named stands for in a fleet."""
    named = dict.fromkeys(name.name.lower() for choice in requirement.choices for name in choice.names)
    present = {row["kind"] for row in fleet.overview()}
    found = []
    for tier in filter(is_tier, named):
        skus = [profile.sku for profile in profiles_in(tier, Catalog.default()) if profile.sku in present]
        found.append(f"{tier} in this fleet: {', '.join(skus) or 'none'}")
    return ["", *found] if found else []


def _print(decision: Decision, tiers: list[str], choices: list[ChoiceReport], output: Path | None) -> None:
    lines = tiers + [line for choice in choices for line in _choice(choice)]
    print_decision(decision.verdict, decision.why() + "\n".join(lines) + "\n", output)


def _choice(report: ChoiceReport) -> list[str]:
    stages = report["stages"]
    counts = f"{stages['nodes']} nodes, {stages['possible']} possible, {stages['candidates']} now"
    lines = ["", f"{report['choice']}: {counts}"]
    lines += [
        f"  {cluster['score']:6.2f}  cluster {cluster['cluster']}  {_points(cluster['terms'])}"
        for cluster in report.get("clusters", [])
    ]
    for candidate in report["candidates"][:_SHOWN]:
        devices = ",".join(map(str, candidate["devices"])) or "-"
        lines.append(f"  {candidate['score']:6.2f}  {candidate['node']}  devices {devices}")
        lines.append(f"          {_points(candidate['terms'])}")
        lines += [f"          {p['points']:.0f}: {p['name']}, {p['why']}" for p in candidate["penalties"]]
    if len(report["candidates"]) > _SHOWN:
        lines.append(f"  and {len(report['candidates']) - _SHOWN} more candidates (all in --json)")
    lines += [_refusal(reason) for reason in report["reasons"]]
    return lines


def _points(terms: list[Term]) -> str:
    return "  ".join(f"{term['name']} {term['points']:.1f}/{term['weight']:.0f}" for term in terms)


def _refusal(reason: Reason) -> str:
    ever = "never" if reason["is_permanent"] else "not now"
    numbers = ""
    if reason["want"] is not None:
        have = "unknown" if reason["have"] is None else reason["have"]
        unit = f" {reason['unit']}" if reason["unit"] else ""
        numbers = f" ({have} of {reason['want']}{unit})"
    nodes = reason["nodes"]
    more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    return f"  {ever}: {reason['code']}{numbers} on {nodes[0]}{more}"
