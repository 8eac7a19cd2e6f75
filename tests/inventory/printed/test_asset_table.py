import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.inventory.printed import asset_table
from tests.inventory.printed.outcome import CATALOG, codes, loaded, message

MAP = {"node": "Hostname", "model": "GPU Model", "count": "Qty", "serial": "Serial"}


def read(text, of="", **columns):
    fragments = asset_table.read_clusters(text, of, CATALOG, columns or None, "assets.csv")
    assert list(fragments) == [""]
    return fragments[""]


def devices(text, **columns):
    return read(text, **columns).nodes[0]["devices"]


def test_one_row_a_device_with_all_that_is_written_on_it():
    text = (
        "node,project,model,serial,uuid,pci,slot,firmware,driver,numa,state\n"
        "nv-1,speech,NVIDIA A100-SXM4-80GB,165001,GPU-a,C3:00.0,7,92.00.45,580.65.06,1,burn-in\n"
        "nv-1,speech,NVIDIA A100-SXM4-80GB,165002,,00000000:C4:00.0,8,,580.65.06,,\n"
    )
    fragment = read(text)
    (node,) = fragment.nodes
    assert node["project"] == "speech"
    assert node["state"] == "burn-in"
    assert node["driver"] == {"nvidia": "580.65.06"}
    assert node["devices"] == [
        {
            "id": 0,
            "sku": "A100-SXM4-80GB",
            "product": "NVIDIA A100-SXM4-80GB",
            "serial": "165001",
            "uuid": "GPU-a",
            "pci": "0000:c3:00.0",
            "slot": "7",
            "firmware": "92.00.45",
            "numa": 1,
        },
        {
            "id": 1,
            "sku": "A100-SXM4-80GB",
            "product": "NVIDIA A100-SXM4-80GB",
            "serial": "165002",
            "pci": "0000:c4:00.0",
            "slot": "8",
        },
    ]
    assert codes(fragment) == []


def test_one_row_a_group():
    fragment = read("Hostname,GPU Model,Qty,Serial\na,H100-SXM5-80GB,4,\nb,MI300X,8,\n", **MAP)
    assert [len(node["devices"]) for node in fragment.nodes] == [4, 8]
    assert loaded(fragment).place("MI300X:8").ok


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_separators_and_the_mark_of_a_spreadsheet(delimiter):
    text = "\ufeffServer,GPU Type,GPU Count\r\na,T4,2\r\n".replace(",", delimiter)
    assert asset_table.recognises(text)
    assert [device["sku"] for device in devices(text)] == ["T4", "T4"]


@pytest.mark.parametrize(
    ("header", "cell", "memory_mib"),
    [
        ("memory", "96GB", 98304),
        ("memory", "81559 MiB", 81559),
        ("memory_mib", "12216", 12216),
        ("Memory (GB)", "24", 24576),
        ("VRAM GB", "", None),
    ],
)
def test_memory_with_its_unit(header, cell, memory_mib):
    assert devices(f"node,model,{header}\na,XPU-9000,{cell}\n")[0].get("memory_mib") == memory_mib


def test_memory_settles_what_a_name_leaves_open():
    assert devices("node,model,memory\na,A100-PCIE,40GB\n")[0] == {
        "id": 0,
        "sku": "A100-PCIE-40GB",
        "product": "A100-PCIE",
    }


def test_a_person_means_a_model_where_a_machine_means_a_pci_id():
    fragment = read("node,model\na,A100\n")
    device = fragment.nodes[0]["devices"][0]
    assert (device["sku"], device["vendor"]) == ("unknown", "nvidia")
    assert codes(fragment) == ["MODEL_AMBIGUOUS"]


def test_unknown_models_stay_unknown():
    fragment = read("node,vendor,class,model,count\na,acme,npu,XPU-9000,2\n")
    assert fragment.nodes[0]["devices"] == [
        {"id": at, "sku": "unknown", "vendor": "acme", "class": "npu", "model": "XPU-9000", "product": "XPU-9000"}
        for at in (0, 1)
    ]
    assert message(fragment, "UNKNOWN_DEVICE") == "devices 0-1: the catalog has no 'XPU-9000'"


@pytest.mark.parametrize("nothing", ["", "N/A", "unknown", "xxxxxxxx", "-", "0000000", "1320xxxx77", "(null)"])
def test_masked_serial_numbers_are_none(nothing):
    assert "serial" not in devices(f"node,model,serial\na,T4,{nothing}\n")[0]


def test_one_uuid_in_two_rows_names_neither_device():
    fragment = read("node,model,uuid,pci\na,T4,GPU-1,0000:01:00.0\na,T4,GPU-1,0000:02:00.0\n")
    assert [(device.get("uuid"), device["pci"]) for device in fragment.nodes[0]["devices"]] == [
        (None, "0000:01:00.0"),
        (None, "0000:02:00.0"),
    ]
    assert codes(fragment) == ["ID_REPEATED"]


def test_nodes_without_devices_have_rows_too():
    fragment = read("node,model,count,state,cpu_milli\na,,,,64000\nb,,0,maintenance,\n")
    assert list(fragment.nodes) == [{"name": "a", "cpu_milli": 64000}, {"name": "b", "state": "maintenance"}]


def test_rows_say_their_cluster():
    text = "cluster,node,model\nwest,a,T4\neast,a,T4\n,b,T4\n"
    assert list(asset_table.read_clusters(text, "", CATALOG)) == ["west", "east", ""]
    with pytest.raises(InvalidDocument, match="give one cluster"):
        asset_table.read(text, "", CATALOG)
    assert asset_table.read("node,model\na,T4\n", "", CATALOG).nodes[0]["name"] == "a"


def test_a_table_of_one_node_needs_no_column_for_it():
    assert read("model,serial\nT4,123\n", "n1").nodes[0]["name"] == "n1"


HEADER = "node,model,count,serial,memory,pci,numa,state,pool,driver,sku,id,labels\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (HEADER + "a,T4,many,,,,,,,,,,\n", "assets.csv:2: column count: 'many' is no number"),
        (HEADER + "a,T4,9999,,,,,,,,,,\n", "assets.csv:2: column count: '9999' is no number"),
        (HEADER + ",T4,1,,,,,,,,,,\n", "assets.csv:2: column node: a row without a node"),
        (HEADER + "a,T4,2,123,,,,,,,,,\n", "assets.csv:2: column serial: one serial for 2 devices"),
        (HEADER + "a,T4,,,16,,,,,,,,\n", "assets.csv:2: column memory: '16' has no unit"),
        (HEADER + "a,T4,,,16 apples,,,,,,,,\n", "assets.csv:2: column memory: '16apples' is not a memory size"),
        (HEADER + "a,T4,,,,slot 3,,,,,,,\n", "assets.csv:2: column pci: 'slot 3' is no PCI address"),
        (HEADER + "a,T4,,,,,-1,,,,,,\n", "assets.csv:2: column numa: '-1' is no number"),
        (HEADER + "a,T4,,,,,,broken,,,,,\n", "assets.csv:2: column state: 'broken' is not known; write one of active"),
        (HEADER + "a,T4,,,,,,,p,,,,\n\na,T4,,,,,,,q,,,,\n", "assets.csv:4: column pool: 'q', but line 2 says 'p'"),
        (HEADER + "a,T4,,,,,,,,1,,,\na,T4,,,,,,,,2,,,\n", "assets.csv:3: column driver: '2', but line 2 says '1'"),
        (HEADER + "a,,,,,,,,,,H100-SXM5-80,,\n", "assets.csv:2: column sku: 'H100-SXM5-80' is not in the catalog"),
        (HEADER + "a,T4,,,,,,,,,,3,\na,T4,,,,,,,,,,3,\n", "assets.csv:3: column id: the node has a device 3 already"),
        (HEADER + "a,T4,,,,,,,,,,,{\n", "assets.csv:2: column labels"),
        (HEADER + "a,T4,600,,,,,,,,,,\na,T4,600,,,,,,,,,,\n", "assets.csv:3: column count: more than 1024 devices"),
        (HEADER + "a,T4\n", "assets.csv:2: 2 cells under 13 columns"),
        (HEADER + '"a\n', "this is not CSV"),
        (HEADER, "assets.csv: no rows"),
        ("host name of it,what\na,T4\n", "assets.csv:1: no column names the node"),
    ],
)
def test_mistakes_name_line_and_column(text, what):
    with pytest.raises(InvalidDocument) as caught:
        read(text)
    assert what in str(caught.value)


def test_a_map_that_does_not_fit_the_table_is_refused():
    text = "Hostname,GPU Model\na,T4\n"
    with pytest.raises(InvalidDocument, match="no column 'Host'; the columns are Hostname, GPU Model"):
        read(text, node="Host")
    with pytest.raises(InvalidDocument, match="a table has no column for 'colour'"):
        read(text, colour="Hostname")
