"""Cases where what seldom decides does: clusters alike, a full fleet with notice, groups apart, groups that pull."""

import copy
from typing import TYPE_CHECKING

from hetero_ops.gap.choice import Choice, ModelName
from hetero_ops.gap.requirement import Requirement
from tests.reference.model import JSON
from tests.reference.open_fleets import Dice

if TYPE_CHECKING:
    from tests.reference.case import Case

_FEW = 3


def pointed(dice: Dice, case: "Case") -> "Case":
    """The case turned into one of these, as far as its fleet allows."""
    turn = dice.of(_alike, _full, _apart, _drawn_together)
    document = copy.deepcopy(case.document)
    return case.having(document=document, requirement=turn(dice, document), before=(), readings=[])


def _alike(dice: Dice, document: JSON) -> Requirement:
    """The same nodes in both clusters, of which one has the data."""
    nodes = document["clusters"][-1]["nodes"]
    twins = [{**copy.deepcopy(node), "name": f"{node['name']}2"} for node in nodes]
    document["clusters"] = [
        {"name": "east", "tags": {"data": ["s3://a"]}, "nodes": twins},
        {"name": "west", "nodes": [{key: node[key] for key in node if key != "pool"} for node in nodes]},
    ]
    for node in twins:
        node.pop("pool", None)
    for node in (*twins, *document["clusters"][1]["nodes"]):
        node["used"] = [{key: use[key] for key in use if key != "charged"} for use in node["used"]]
    near = dice.of(("east",), ("west",), ("s3://a/train",), ("west", "s3://a"))
    return Requirement(choices=(Choice(accelerator_class="gpu", near=near),))


def _full(dice: Dice, document: JSON) -> Requirement:
    """A few devices a node, each in use by what may end, some of which needs longer to save than the notice."""
    document.pop("notice_s", None)
    document.pop("limits", None)
    for cluster in document["clusters"]:
        cluster["notice_s"] = dice.of(5, 20)
        for node in cluster["nodes"]:
            kind = node["devices"][0]
            node["devices"] = [{"sku": kind["sku"], "count": dice.of(1, 2, _FEW)}]
            node["used"] = [_ending(dice, device) for device in range(node["devices"][0]["count"])]
    return Requirement(choices=(Choice(accelerator_class="gpu", count=dice.of(1, 2)),), priority=3)


def _ending(dice: Dice, device: int) -> JSON:
    saved = {"checkpoint_s": dice.of(5, 15, 40), "checkpoint_age_s": dice.of(10, 25, 60)}
    use = {"owner": dice.of("ann", "bob", "cleo", "dan"), "devices": [device], "preemptible": True, "priority": 0}
    return use | saved | {"since": "2026-11-29T09:59:50Z"}


def _apart(dice: Dice, document: JSON) -> Requirement:
    """Two nodes of one rack, each with a device that the other has not."""
    cluster = document["clusters"][-1]
    cluster.pop("racks", None)
    skus = dice.sample(("H100-SXM5-80GB", "L4", "T4", "MI300X"), 2)
    cluster["nodes"] = [
        {"name": name, "labels": {"rack": rack}, "cpu_milli": 64_000, "devices": [{"sku": sku, "count": 2}], "used": []}
        for name, rack, sku in zip("pq", dice.of(("r1", "r1"), ("r1", "r2")), skus, strict=True)
    ]
    first, second = (Choice(names=(ModelName(name=sku),)) for sku in skus)
    nearness = dice.of(None, "node", "switch", "rack", "rack")
    return Requirement(choices=(first.model_copy(update={"groups": (second,), "nearness": nearness}),))


def _drawn_together(dice: Dice, document: JSON) -> Requirement:
    """Two nodes: on one the devices of a group are near each other, on the other one of them is near another group."""
    cluster = document["clusters"][-1]
    cluster.pop("racks", None)
    first, second = dice.sample(("H100-PCIE-80GB", "L4", "T4", "MI300X"), 2)
    cluster["nodes"] = [
        {
            "name": name,
            "cpu_milli": 64_000,
            "devices": [{"sku": first, "count": 2, "numa": pair}, {"sku": second, "count": 1, "numa": other}],
            "used": [],
        }
        for name, pair, other in zip(dice.sample("pq", 2), ([0, 0], [0, 1]), (1, 0), strict=True)
    ]
    beside = (Choice(names=(ModelName(name=second),)),)
    weight = dice.of(2, 5, 1000)
    choice = Choice(names=(ModelName(name=first),), count=2, groups=beside, affinity_weight=weight)
    return Requirement(choices=(choice,))
