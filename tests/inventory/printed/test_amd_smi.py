import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed import amd_smi
from hetero_ops.inventory.printed.amd_record import records_of_json, records_of_text
from hetero_ops.inventory.printed.amd_topology import tables_of
from hetero_ops.inventory.printed.draft import NodeDraft
from tests.inventory.printed.outcome import codes, devices, largest_island, loaded, node, values


def read(text: str) -> Fragment:
    return amd_smi.read(text, "n1", Catalog.builtin())


def draft() -> NodeDraft:
    return NodeDraft("n1", Catalog.builtin(), "amd")


def block(gpu: int, bdf: str | None, *, mode: str = "SPX", vram: int = 196592, part: int | None = 0) -> str:
    bus = f"    BUS:\n        BDF: {bdf}\n" if bdf else ""
    part_id = "" if part is None else f"        PARTITION_ID: {part}\n"
    memory_mode = "N/A" if mode == "N/A" else "NPS1"
    partition = f"    PARTITION:\n        COMPUTE_PARTITION: {mode}\n        MEMORY_PARTITION: {memory_mode}\n{part_id}"
    asic = "    ASIC:\n        MARKET_NAME: AMD Instinct MI300X\n        DEVICE_ID: 0x74a1\n"
    return f"GPU: {gpu}\n{asic}{bus}{partition}    VRAM:\n        SIZE: {vram} MB\n\n"


@pytest.fixture
def sample(test_data: Callable[[str], Path]) -> Callable[[str], str]:
    return lambda name: test_data(f"samples/amd-smi/{name}").read_text()


def test_eight_gpus_in_one_xgmi_island(sample: Callable[[str], str]) -> None:
    text = sample("topology-8gpu-xgmi.txt")
    found = read(text)

    assert amd_smi.recognises(text)
    buses = ["0c", "22", "38", "5c", "9f", "af", "bf", "df"]
    assert values(found, "id") == list(range(8))  # in the order of their addresses
    assert values(found, "pci") == [f"0000:{bus}:00.0" for bus in buses]
    assert values(found, "islands") == [[list(range(8))]] + [None] * 7
    assert largest_island(found) == 8
    assert values(found, "numa") == values(found, "product") == [None] * 8
    assert codes(found) == ["PRODUCT_NOT_PRINTED"]


def test_every_table_of_a_topology_is_cut_at_its_title(sample: Callable[[str], str]) -> None:
    tables = tables_of(sample("topology-8gpu-xgmi.txt"))

    def pairs(title: str) -> set[str]:
        return {cell for (one, other), cell in tables[title].cells.items() if one != other}

    assert list(tables) == ["ACCESS", "WEIGHT", "HOPS", "LINK TYPE", "NUMA BW"]
    assert (pairs("WEIGHT"), pairs("HOPS"), pairs("NUMA BW")) == ({"15"}, {"1"}, {"50000-50000"})
    assert [len(table.cells) for table in tables.values()] == [64] * 5


def test_the_old_json_of_two_gpus_over_pcie(sample: Callable[[str], str]) -> None:
    text = sample("topology-2gpu-pcie.json")
    found = read(text)
    first = records_of_json(text, draft())[0].values

    assert amd_smi.recognises(text)
    assert values(found, "id") == [0, 1]
    assert values(found, "islands") == [[], []]
    assert largest_island(found) == 0
    assert values(found, "pci") == [None, None]
    assert [first[f"{key}.gpu_1"] for key in ("link_type", "weight", "hops", "link_accessibility")] == [
        "PCIE",
        "40",
        "2",
        "DISABLED",
    ]
    assert codes(found) == ["PRODUCT_NOT_PRINTED"]


def test_four_apus_that_only_their_pci_domain_tells_apart(sample: Callable[[str], str]) -> None:
    text = sample("static-mi300a-4apu.txt")
    found = read(text)

    assert values(found, "sku") == ["MI300A"] * 4
    assert values(found, "product") == ["MI300A"] * 4
    assert values(found, "pci") == [f"000{domain}:01:00.0" for domain in range(4)]
    assert values(found, "numa") == [0, 1, 2, 3]
    assert len(set(values(found, "serial"))) == 4
    assert values(found, "partition") == [None] * 4  # SPX/NPS1 is the whole card
    assert node(found)["driver"] == {"amd": "6.9.0-rc5+"}
    static = records_of_text(text, draft())[0].values
    assert (static["bus.slot_type"], static["limit.max_power"]) == ("PCIE", "550 W")
    assert loaded(found).place("MI300A:4").ok


def test_memory_is_kept_as_printed_and_the_contradiction_named(sample: Callable[[str], str]) -> None:
    found = read(sample("static-mi300a-4apu.txt"))

    assert values(found, "memory_mib") == [64289] * 4
    assert [(finding.code, finding.message) for finding in found.findings] == [
        ("MEMORY_CONTRADICTS", "GPU 0-3: 64289 MiB printed, but a MI300A has 131072; kept as printed")
    ]
    assert loaded(found).overview()[0]["memory_mib"] == 131072  # its size class stays that of the model


def test_a_list_names_addresses_and_no_more(sample: Callable[[str], str]) -> None:
    text = sample("list-2gpu.txt")
    found = read(text)

    assert [record.values["node_id"] for record in records_of_text(text, draft())] == ["1", "2"]
    assert devices(found) == [
        {"id": index, "sku": "unknown", "vendor": "amd", "class": "gpu", "pci": f"0000:{bus}:00.0"}
        for index, bus in enumerate(["23", "26"])  # nodes of KFD are no NUMA nodes, a redacted UUID is none
    ]
    assert codes(found) == ["PRODUCT_NOT_PRINTED"]


def test_a_card_in_cpx_is_eight_partitions() -> None:
    found = read(block(0, "0000:05:00.0", mode="CPX") + block(1, "0000:26:00.0", mode="SPX"))

    assert values(found, "id") == list(range(1, 10))
    assert values(found, "partition") == [None] + ["cpx_nps1"] * 8
    assert values(found, "slot") == [None] + ["0"] * 8
    assert values(found, "memory_mib") == [196592] + [24574] * 8
    assert set(values(found, "sku")) == {"MI300X"}
    assert found.findings == ()
    assert loaded(found).place("MI300X/cpx_nps1:8 where >=24GB").ok


def test_partitions_that_are_listed_one_by_one_are_not_counted_again() -> None:
    # The first one prints the mode, and the memory of the card; the others print N/A, at functions of the card.
    text = block(0, "0000:05:00.0", mode="DPX") + block(1, "0000:05:00.1", mode="N/A", vram=98296, part=1)
    found = read(text)

    assert values(found, "id") == [0, 1]
    assert values(found, "partition") == ["dpx_nps1"] * 2
    assert values(found, "memory_mib") == [98296, 98296]
    assert found.findings == ()


def test_partitions_at_one_address_stay_apart() -> None:
    found = read("".join(block(i, "0000:05:00.0", mode="CPX", part=i, vram=24574) for i in range(8)))

    assert values(found, "id") == list(range(8))
    assert values(found, "pci") == ["0000:05:00.0"] * 8
    assert found.findings == ()


def test_partitions_that_are_missing_are_named_and_not_invented() -> None:
    found = read("".join(block(i, "0000:05:00.0", mode="CPX", part=i, vram=24574) for i in range(3)))

    assert len(devices(found)) == 3
    assert [finding.message for finding in found.findings] == ["GPU 0: mode cpx_nps1: 3 of 8 partitions are printed"]


def test_partitions_without_addresses_are_taken_as_listed() -> None:
    found = read("".join(block(i, None, mode="CPX", part=None, vram=24574) for i in range(2)))

    assert values(found, "partition") == ["cpx_nps1"] * 2
    assert codes(found) == ["PARTITION_UNKNOWN"]


def test_several_gpus_at_one_card_without_a_mode_are_named() -> None:
    listed = "".join(f"GPU: {i}\n    BDF: 0000:0c:00.0\n    PARTITION_ID: {i}\n" for i in range(2))
    found = read(listed)

    assert values(found, "id") == [0, 1]
    assert codes(found) == ["ID_REPEATED", "PARTITION_UNKNOWN", "PRODUCT_NOT_PRINTED"]


def test_the_json_of_new_versions() -> None:
    static = {
        "gpu": 3,
        "asic": {"market_name": "AMD Instinct MI300X", "device_id": "0x74a1", "asic_serial": "0x0"},
        "bus": {"bdf": "0001:05:00.0"},
        "driver": {"name": "amdgpu", "version": "6.12.12"},
        "numa": {"node": -1, "affinity": "N/A"},
        "partition": {"accelerator_partition": "SPX", "memory_partition": "NPS1", "partition_id": 0},
        "vram": {"size": {"value": 196592, "unit": "MB"}},
        "uuid": None,
    }
    text = json.dumps({"gpu_data": [static]})
    found = read(text)

    assert amd_smi.recognises(text)
    assert devices(found) == [
        {"id": 3, "sku": "MI300X", "product": "AMD Instinct MI300X", "memory_mib": 196592, "pci": "0001:05:00.0"}
    ]
    assert node(found)["driver"] == {"amd": "6.12.12"}
    assert found.findings == ()


def test_the_new_json_of_links() -> None:
    def links(gpu: int, *words: str) -> dict[str, object]:
        others = [{"gpu": other, "bdf": f"0000:0{other}:00.0", "link_type": word} for other, word in enumerate(words)]
        return {"gpu": gpu, "bdf": f"0000:0{gpu}:00.0", "links": others}

    text = json.dumps(
        [links(0, "SELF", "XGMI", "PCIE"), links(1, "XGMI", "SELF", "PCIE"), links(2, "PCIE", "PCIE", "SELF")]
    )
    found = read(text)

    assert values(found, "islands") == [[[0, 1]], None, []]
    assert values(found, "pci") == [f"0000:0{gpu}:00.0" for gpu in range(3)]


def test_the_json_of_one_gpu_names_the_others() -> None:
    other = {"gpu": 1, "bdf": "0000:26:00.0", "link_type": "XGMI"}
    found = read(json.dumps([{"gpu": 0, "bdf": "0000:23:00.0", "links": [other]}]))

    assert values(found, "pci") == ["0000:23:00.0", "0000:26:00.0"]
    assert values(found, "islands") == [[[0, 1]], None]


def test_the_device_id_counts_where_the_name_says_nothing() -> None:
    found = read(block(0, "0000:05:00.0").replace("AMD Instinct MI300X", "N/A"))

    assert (values(found, "sku"), values(found, "product")) == (["MI300X"], [None])


def test_a_gpu_printed_twice_counts_once() -> None:
    found = read(block(0, "0000:05:00.0") + block(0, "0000:06:00.0"))

    assert values(found, "pci") == ["0000:05:00.0"]
    assert set(codes(found)) == {"TEXT_LEFT_OVER"}


def test_a_block_that_names_two_gpus_is_left_out() -> None:
    listed = "GPU: {}\n    BDF: 0000:2{}:00.0\n    UUID: x\n"
    found = read(listed.format(0, 3) + listed.format(1, 6).partition("\n")[2] + listed.format(2, 9))

    assert (values(found, "id"), values(found, "pci")) == ([2], ["0000:29:00.0"])
    assert [finding.message for finding in found.findings if finding.code == "TEXT_LEFT_OVER"] == [
        "line 4: another bdf of one GPU; its block is left out",
        "line 5: of no GPU, or of one that was read before",
    ]


def test_lines_that_are_there_twice_say_nothing_new() -> None:
    found = read("GPU: 0\nGPU: 0\n    BDF: 0000:23:00.0\n    BDF: 0000:23:00.0\n    KFD_ID: 1\n")

    assert values(found, "pci") == ["0000:23:00.0"]
    assert codes(found) == ["PRODUCT_NOT_PRINTED"]


def test_blocks_of_cpus_are_no_gpus() -> None:
    found = read("CPU: 0\n    SMU:\n        FW_VERSION: 1\n\n" + block(0, "0000:05:00.0"))

    assert values(found, "id") == [0]


def test_a_topology_without_its_link_types_leaves_islands_unknown(sample: Callable[[str], str]) -> None:
    text = sample("topology-8gpu-xgmi.txt")
    found = read(text[: text.index("LINK TYPE")])

    assert values(found, "islands") == [None] * 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no device can be read"),
        ("GPU: 0\n", "no device can be read"),
        ("GPU: 9999\n    BDF: 0000:05:00.0\n", "no device can be read"),
        ("ACCESS TABLE:\n", "no device can be read"),
        ('[{"gpu": "x", "bdf": 1}]', "no device can be read"),
        ('[{"gpu": 0, "bdf": "0000:', "line:1: this is not JSON"),
        ("[" * 40, "this is not JSON"),
        ('[{"gpu": 0, "bdf": ' + "[" * 40 + "]" * 40 + "}]", "nested deeper than 16"),
        ("[1, 2]", "no device can be read"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        read(text)


@pytest.mark.parametrize("text", ["GPU: 0\n", '{"kind": "List", "items": []}', '[{"gpu": 1}]', "[", ""])
def test_other_texts_are_not_recognised(text: str) -> None:
    assert not amd_smi.recognises(text)
