"""Options that several commands share, said once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hetero_ops.cli.output import Format

_REQUEST = typer.Argument(
    metavar="REQ",
    help="What the step needs, as 'H100:8 | MI300X:8 where >=80GB bf16 fabric', or a YAML or JSON file with it.",
)
Request = Annotated[str, _REQUEST]
OptionalRequest = Annotated[str | None, _REQUEST]
FleetSource = Annotated[
    str,
    typer.Option(
        "--fleet",
        envvar="HETERO_OPS_FLEET",
        show_default=False,
        help="Fleet file (YAML or JSON), directory of them, - for standard input, or a node list of openb (.csv).",
    ),
]
FleetOrService = Annotated[
    str,
    typer.Option(
        "--fleet",
        envvar=["HETERO_OPS_SERVICE_URL", "HETERO_OPS_FLEET"],
        show_default=False,
        help="As everywhere: file, directory, - or .csv; or the URL of a service, which is asked instead.",
    ),
]
MixFile = Annotated[
    Path | None,
    typer.Option("--mix", help="Expected workload: a file with `mix:`, or a task list of openb (.csv)."),
]
Measured = Annotated[
    Path | None,
    typer.Option(
        "--measured",
        help="Measured throughput: a table (.csv, YAML or JSON) with workload, device, devices, precision, throughput.",
    ),
]
Weights = Annotated[
    Path | None,
    typer.Option("--weights", help="JSON file with the weights of performance, topology, fragmentation and power."),
]
Rules = Annotated[
    Path | None,
    typer.Option("--rules", help="The site's rules: what steps of a kind or a team must have, or should."),
]
Ledger = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="URL",
        envvar="HETERO_OPS_LEDGER",
        show_default=False,
        help="sqlite:///FILE or postgresql://HOST/NAME; without one a file in the user's state directory.",
    ),
]
Policy = Annotated[str, typer.Option("--policy", help="How candidates are judged: aware or classic.")]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**64 - 1, help="Part of the trace id.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write there instead.")]
Form = Annotated[Format, typer.Option("--format", help="Form of the output.")]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]


class Solver(StrEnum):
    """How a plan of many steps is looked for."""

    greedy = "greedy"
    search = "search"
    genetic = "genetic"
    exact = "exact"


class Objective(StrEnum):
    """Which plan is the better one."""

    order = "order"
    fair = "fair"
    allocation = "allocation"


ObjectiveOfPlan = Annotated[
    Objective,
    typer.Option(
        "--objective",
        help="With --batch: priority, then age, then allocation; teams in turn instead of age; or allocation alone.",
    ),
]
TimeLimit = Annotated[
    float,
    typer.Option("--time-limit", min=0.001, max=86_400, metavar="S", help="With --batch: seconds to look for a plan."),
]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="How many; one a core if not given.")]
