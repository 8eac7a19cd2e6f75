"""What weights that save power are worth on the openb trace, modelled, against `fgd` in the same run."""

import json
import sys
from pathlib import Path
from statistics import fmean

import pytest

from hetero_ops import Fleet
from hetero_ops.gap.catalog import Catalog

TASKS = "openb/openb_pod_list_default.csv"
PLAIN = {"performance": 50, "topology": 25, "fragmentation": 15, "power": 10}
SEEDS = [42, 43, 44]
ARRIVAL = 1.3
# The trace hides two models; what they draw is taken from A10 and A100. The others it names by words of its own.
HIDDEN_W = {"G2": 150, "G3": 400}
NAMED = {"P100": "P100-PCIE-16GB", "V100M16": "V100-SXM2-16GB", "V100M32": "V100-SXM2-32GB"}


@pytest.fixture(scope="session")
def known(openb, tmp_path_factory) -> tuple[Fleet, Path]:
    """The fleet with the TDP of every device, and a folder for files of weights."""
    folder = tmp_path_factory.mktemp("draw")
    site = folder / "site.yaml"
    host = {"vendor": "nvidia", "class": "gpu", "memory": "24GB"}
    entries = [{"sku": name, "model": name, "tdp_watts": watt, **host} for name, watt in HIDDEN_W.items()]
    site.write_text(json.dumps({"apiVersion": "hetero-ops/v1", "kind": "Catalog", "entries": entries}))
    document = json.loads(openb.to_json())["document"]
    for group in (group for node in document["clusters"][0]["nodes"] for group in node["devices"]):
        if group["sku"] == "unknown":
            model = group.pop("model")
            group["sku"] = NAMED.get(model, model)
    return Fleet.from_document(document, catalog=Catalog.load(site)), folder


@pytest.mark.benchmark(group="replay with weights that save power")
@pytest.mark.parametrize("draw", [0, 5, 15, 40])
def test_saving(benchmark, capsys, test_data, known, draw):
    fleet, folder = known
    weights = folder / f"{draw}.json"
    weights.write_text(json.dumps(PLAIN | {"draw": draw}))
    setting = {"policies": ["fgd", f"weights:{weights}"], "seeds": SEEDS, "arrival": ARRIVAL}
    report = benchmark.pedantic(fleet.simulate, (test_data(TASKS),), setting, rounds=1)
    runs = {(run["policy"] == "fgd", run["seed"]): run for run in report["runs"]}
    pairs = [(runs[False, seed], runs[True, seed]) for seed in SEEDS]
    curves = [
        [1 - own / other for own, other in zip(*(run["draw_w_over_arrival"] for run in pair), strict=True)]
        for pair in pairs
    ]
    moment = {percent: round(percent / ARRIVAL) - 1 for percent in (20, 40, 60, 80, 90)}
    saved = " ".join(f"{100 * fmean(curve[moment[at]] for curve in curves):.1f}" for at in (20, 40, 60, 80))
    until = 100 * fmean(fmean(curve[: moment[90] + 1]) for curve in curves)
    gained = 100 * fmean(ours["allocated_ratio"]["1.0"] - fgd["allocated_ratio"]["1.0"] for ours, fgd in pairs)
    with capsys.disabled():
        sys.stdout.write(
            f"\ndraw {draw:2}: power saved against fgd while 20, 40, 60, 80 % of capacity arrive: {saved} %; "
            f"mean until 90 %: {until:.1f} %; allocated at 100 %: {gained:+.2f} points\n"
        )
