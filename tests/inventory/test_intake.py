import json

import pytest
import yaml

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.intake import Handed, Hints, gather, without_defaults
from hetero_ops.placement.fleet import Fleet
from tests.inventory.kube import GFD, node, pod

CATALOG = Catalog.builtin()
A100 = "A100-SXM4-40GB"
HL = """\
| AIP  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncor-Events|
|===============================+======================+======================|
|   0  HL-225              N/A  | 0000:33:00.0     N/A |                   0  |
| N/A   22C   P0   88W /  600W  |   768MiB /  98304MiB |     0%            0% |
|-------------------------------+----------------------+----------------------+
"""


def kubectl(*items):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)})


def taken(texts, **hints):
    handed = [Handed(name, text.encode()) for name, text in texts.items()]
    imported = gather(handed, CATALOG, Hints(**hints))
    Fleet.from_document(without_defaults(imported.document))
    clusters = {cluster["name"]: cluster["nodes"] for cluster in imported.document["clusters"]}
    return clusters, [finding.code for finding in imported.findings]


def test_a_cluster_a_tool_and_a_table_tell_of_one_node():
    clusters, codes = taken(
        {
            "nodes.json": kubectl(node("nv-7", GFD, {"nvidia.com/gpu": "8", "cpu": "96"}), pod("p", on="nv-7")),
            "assets.csv": "node,project,model,serial\n"
            + "".join(f"nv-7,speech,A100-SXM4-40GB,S{at}\n" for at in range(8)),
            "slurm/all.txt": "NodeName=nv-7 State=IDLE Gres=gpu:a100:8\n",
        }
    )
    (seen,) = clusters["default"]
    assert [device["serial"] for device in seen["devices"]] == [f"S{at}" for at in range(8)]
    assert {device["sku"] for device in seen["devices"]} == {A100}
    assert (seen["project"], seen["cpu_milli"], seen["state"]) == ("speech", 96000, "active")
    assert codes == ["MODEL_AMBIGUOUS"]  # what Slurm calls a100; the others know


def test_the_name_of_a_file_is_that_of_the_node_up_to_the_first_dot():
    clusters, _ = taken({"out/gaudi-1.hl.txt": HL, "gaudi-1.more.txt": HL})
    assert [(each["name"], len(each["devices"])) for each in clusters["default"]] == [("gaudi-1", 1)]
    clusters, _ = taken({"a.txt": HL, "b.txt": HL}, node="g", cluster="west")
    assert [each["name"] for each in clusters["west"]] == ["g"]


def test_standard_input_needs_a_name():
    with pytest.raises(
        InvalidDocument, match="standard input: the text does not say which node it is of; name it: --node"
    ):
        taken({"-": HL})


def test_texts_without_a_cluster_go_where_another_source_has_the_node():
    assets = "cluster,node,model\nwest,gaudi-1,HL-225\neast,gaudi-2,HL-225\n"
    clusters, _ = taken({"gaudi-1.txt": HL, "assets.csv": assets})
    assert {name: len(nodes) for name, nodes in clusters.items()} == {"west": 1, "east": 1}
    clusters, _ = taken({"gaudi-9.txt": HL}, homes={"gaudi-9": "south"})
    assert list(clusters) == ["south"]


def test_openb_is_read_beside_others():
    clusters, _ = taken({"nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\nn,1000,1024,2,T4\n", "g.txt": HL})
    assert list(clusters) == ["openb", "default"]
    assert clusters["openb"][0]["devices"] == [{"sku": "T4", "count": 2}]


def test_nodes_alone_do_not_tell_what_is_in_use():
    item = node("a", GFD, {"nvidia.com/gpu": "8"})
    assert "used" not in taken({"n.json": kubectl(item)})[0]["default"][0]
    assert taken({"n.json": kubectl(item, pod("p", on="elsewhere"))})[0]["default"][0]["used"] == []


def test_what_a_pod_says_is_no_output_of_a_tool():
    item = pod("p", on="a")
    item["metadata"]["annotations"] = {"note": f"NodeName=x Gres=gpu:8\n{HL}"}
    clusters, _ = taken({"n.json": kubectl(node("a", GFD, {"nvidia.com/gpu": "8"}), item)})
    assert [each["name"] for each in clusters["default"]] == ["a"]


ZONES = """\
apiVersion: topology.node.k8s.io/v1alpha2
kind: NodeResourceTopology
metadata: {name: a}
zones:
- {name: node-0, type: Node, resources: [{name: nvidia.com/gpu, capacity: "4", allocatable: "4", available: "4"}]}
- {name: node-1, type: Node, resources: [{name: nvidia.com/gpu, capacity: "4", allocatable: "4", available: "4"}]}
"""


@pytest.mark.parametrize("form", ["list", "list of its kind", "array", "file of its own", "stream", "stream of JSON"])
def test_topologies_of_nodes_are_taken_in_any_form(form):
    item, zones = node("a", GFD, {"nvidia.com/gpu": "8"}), yaml.safe_load(ZONES)
    texts = {
        "list": {"n.json": kubectl(item, zones)},
        "list of its kind": {
            "n.json": kubectl(item),
            "z.json": json.dumps({"kind": "NodeResourceTopologyList", "apiVersion": "v1", "items": [zones]}),
        },
        "array": {"n.json": json.dumps([item, zones])},
        "file of its own": {"n.json": kubectl(item), "z.yaml": ZONES},
        "stream": {"n.yaml": f"---\n---\n# nodes\n{yaml.safe_dump(item)}---\n{ZONES}...\n"},
        "stream of JSON": {"n.yaml": f"---\n{json.dumps(item)}\n---\n{ZONES}"},
    }[form]
    (seen,) = taken(texts)[0]["default"]
    (group,) = seen["devices"]
    assert (group["sku"], group["count"], group["numa"]) == (A100, 8, [0, 0, 0, 0, 1, 1, 1, 1])


def test_a_mistake_in_a_stream_names_its_line():
    with pytest.raises(InvalidDocument, match=r"n.yaml:10: .*is given twice"):
        taken({"n.yaml": f"{ZONES}---\nkind: Node\nmetadata: {{name: a}}\nkind: Pod\n"})
    with pytest.raises(InvalidDocument, match=r"n.yaml:8: an object without a kind"):
        taken({"n.yaml": f"{ZONES}---\nname: x\n"})


def test_what_goes_without_saying_is_left_out():
    document = {
        "clusters": [
            {
                "name": "c",
                "nodes": [
                    {
                        "name": "a",
                        "state": "active",
                        "used": [],
                        "devices": [{"sku": "T4", "id": 0, "health": "healthy"}],
                    },
                    {"name": "b", "state": "cordoned", "devices": []},
                ],
            }
        ]
    }
    assert without_defaults(document)["clusters"][0]["nodes"] == [
        {"name": "a", "devices": [{"sku": "T4", "id": 0}]},
        {"name": "b", "state": "cordoned"},
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "f.txt: the text is empty"),
        ("hello", "f.txt: this is output of no tool that is known; give the output of kubectl"),
        ("GPU 0: Tesla T4\n", "f.txt: this is output of no tool"),
        ("kind: Fleet\napiVersion: hetero-ops/v1\nclusters: []\n", "f.txt:1: this is a fleet document already"),
        ("kind: List\nitems: []\n", "f.txt:1: no node among the objects"),
        (
            "| AIP  Name        Persistence-M| Bus-Id | V |\n",
            "f.txt: no device can be read from this text; give all that `hl-smi` prints",
        ),
    ],
)
def test_texts_that_are_no_source_are_refused(text, what):
    with pytest.raises(InvalidDocument) as caught:
        taken({"f.txt": text})
    assert str(caught.value).startswith(what)


def test_a_table_whose_columns_are_unusual_is_known_by_its_ending_or_by_the_map():
    text = "Asset owner,Box,Chip\nme,n1,T4\n"
    clusters, _ = taken({"x.csv": text}, columns={"node": "Box", "model": "Chip"})
    assert clusters["default"] == taken({"x.txt": text}, columns={"node": "Box", "model": "Chip"})[0]["default"]
    with pytest.raises(
        InvalidDocument, match=r'x.csv:1: no column names the node; say which it is: --columns "node=\.\.\."'
    ):
        taken({"x.csv": text})


def test_a_stream_without_documents_is_refused():
    with pytest.raises(InvalidDocument, match=r"n\.yaml: the document is empty"):
        taken({"n.yaml": "---\n# nothing\n---\n"})
