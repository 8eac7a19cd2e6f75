import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed import nvidia_xml
from tests.inventory.printed.outcome import codes, devices, largest_island, loaded, node, values

A100 = "NVIDIA A100-SXM4-80GB"
MIG_DEVICE = """<mig_device><gpu_instance_id>{gi}</gpu_instance_id><compute_instance_id>{ci}</compute_instance_id>
<device_attributes><shared><copy_engine_count>1</copy_engine_count><decoder_count>1</decoder_count></shared>
</device_attributes><fb_memory_usage><total>{mib} MiB</total></fb_memory_usage></mig_device>"""


def gpu(bus: str = "00000000:01:00.0", product: str = A100, inside: str = "", mib: int = 81920) -> str:
    memory = f"<fb_memory_usage><total>{mib} MiB</total></fb_memory_usage>"
    return f'<gpu id="{bus}">\n<product_name>{product}</product_name>\n{memory}\n{inside}\n</gpu>\n'


def log(*gpus: str, attached: int | None = None) -> str:
    count = f"<attached_gpus>{len(gpus) if attached is None else attached}</attached_gpus>\n"
    return f"<?xml version='1.0' ?>\n<nvidia_smi_log>\n{count}{''.join(gpus)}</nvidia_smi_log>\n"


def mig(*instances: str, mode: str = "Enabled") -> str:
    return f"<mig_mode><current_mig>{mode}</current_mig></mig_mode><mig_devices>{''.join(instances)}</mig_devices>"


def instance(gi: int, mib: int, ci: int = 0) -> str:
    return MIG_DEVICE.format(gi=gi, ci=ci, mib=mib)


def read(text: str) -> Fragment:
    return nvidia_xml.read(text, "n1", Catalog.builtin())


@pytest.fixture
def sample(test_data: Callable[[str], Path]) -> Callable[[str], str]:
    return lambda name: test_data(f"samples/nvidia-smi-xml/{name}").read_text()


def test_eight_h100_of_one_node(sample: Callable[[str], str]) -> None:
    text = sample("h100-8gpu-580.xml")
    found = read(text)

    assert nvidia_xml.recognises(text)
    assert values(found, "sku") == ["H100-SXM5-80GB"] * 8
    assert values(found, "product") == ["NVIDIA H100 80GB HBM3"] * 8
    assert values(found, "memory_mib") == [81559] * 8
    assert values(found, "partition") == [None] * 8
    assert node(found)["driver"] == {"nvidia": "580.105.08", "cuda": "13.0"}
    assert "labels" not in node(found)
    assert found.findings == ()
    assert largest_island(found) == 8


def test_the_order_of_the_log_is_the_index_and_module_ids_are_not(sample: Callable[[str], str]) -> None:
    for name, buses in (
        ("h100-8gpu-580.xml", ["53", "64", "75", "86", "97", "a8", "b9", "ca"]),
        ("gb200-4gpu-580.xml", ["29", "3f", "9c", "b2"]),
    ):
        text = sample(name)
        modules = re.findall("<module_id>([0-9])<", text)
        assert modules != sorted(modules)
        assert values(read(text), "id") == list(range(len(buses)))
        assert values(read(text), "pci") == [f"0000:{bus}:00.0" for bus in buses]


def test_a_gb200_tray_is_one_domain_that_spans_nodes(sample: Callable[[str], str]) -> None:
    found = read(sample("gb200-4gpu-580.xml"))

    assert values(found, "product") == ["NVIDIA GB200"] * 4
    assert values(found, "sku") == ["GB200-186GB"] * 4
    assert values(found, "memory_mib") == [189471] * 4
    assert node(found)["labels"] == {"nvidia.com/gpu.clique": "00000001-0000-0000-0000-000000000001.2"}
    assert devices(found)[0]["islands"] == [[0, 1, 2, 3]]
    assert loaded(found).place("GB200:4 where fabric").ok


def test_the_two_gpus_of_a_superchip_share_a_serial_and_stay_two(sample: Callable[[str], str]) -> None:
    found = read(sample("gb200-4gpu-580.xml"))

    assert values(found, "serial") == ["1650000000001"] * 2 + ["1650000000002"] * 2
    assert len(set(values(found, "uuid"))) == 4
    assert None not in values(found, "uuid")
    assert found.findings == ()


def test_not_available_is_no_error(sample: Callable[[str], str]) -> None:
    found = read(sample("t4-1gpu-595.xml"))

    assert [device["sku"] for device in devices(found)] == ["T4"]
    assert devices(found)[0]["product"] == "Tesla T4"
    assert devices(found)[0]["memory_mib"] == 15360
    assert devices(found)[0].keys().isdisjoint({"partition", "islands"})
    assert node(found)["driver"] == {"nvidia": "595.91.07", "cuda": "13.2"}
    assert "labels" not in node(found)
    assert found.findings == ()
    assert largest_island(found) == 0


def test_an_old_log_says_less(sample: Callable[[str], str]) -> None:
    found = read(sample("gtx1070ti-schema-v10.xml"))

    (only,) = devices(found)
    assert (only["sku"], only["model"], only["product"]) == ("unknown", *["GeForce GTX 1070 Ti"] * 2)
    assert only["memory_mib"] == 4096
    assert "driver" not in node(found)
    assert codes(found) == ["UNKNOWN_DEVICE"]
    assert loaded(found).place("gpu:1").ok


def test_mig_instances_stand_for_their_card() -> None:
    instances = [instance(gi, 19968) for gi in (3, 4, 5, 6)]
    found = read(log(gpu(inside=mig(*instances)), gpu("00000000:41:00.0", inside=mig(mode="Disabled"))))

    assert values(found, "id") == [1, 2, 3, 4, 5]
    assert values(found, "partition") == [None] + ["1g.20gb"] * 4
    assert values(found, "memory_mib") == [81920] + [19968] * 4
    assert values(found, "slot") == [None] + ["0"] * 4
    assert values(found, "pci") == ["0000:41:00.0"] + ["0000:01:00.0"] * 4
    assert found.findings == ()
    assert loaded(found).place("A100/1g.20gb:4").ok


def test_compute_instances_of_one_gpu_instance_are_one_device() -> None:
    found = read(log(gpu(inside=mig(instance(1, 9856), instance(1, 9856, ci=1)))))

    assert values(found, "partition") == ["1g.10gb"]
    assert codes(found) == ["PARTITION_UNKNOWN"]


def test_mig_without_instances_is_there_and_not_usable() -> None:
    found = read(log(gpu(inside=mig()), gpu("00000000:41:00.0")))

    assert values(found, "id") == [0, 1]
    assert values(found, "health") == ["unhealthy", None]
    assert codes(found) == ["NOT_OFFERED"]
    assert loaded(found).place("gpu:2").verdict == "busy"


def test_a_computing_process_takes_its_device_and_a_drawing_one_does_not() -> None:
    def process(kind: str, name: str, gi: str = "N/A") -> str:
        ids = f"<gpu_instance_id>{gi}</gpu_instance_id><pid>77</pid>"
        return f"<process_info>{ids}<type>{kind}</type><process_name>{name}</process_name></process_info>"

    inside = f"<processes>{process('C', '/usr/bin/python3 train.py --token=s3cret')}</processes>"
    drawing = f"<processes>{process('G', '/usr/bin/Xorg')}{process('C+G', 'explorer.exe')}</processes>"
    hidden = f"<processes>{process('C', '[Insufficient Permissions]')}{process('M+C', 'nvidia-cuda-mps')}</processes>"
    found = read(log(gpu("01:00.0", inside=inside), gpu("02:00.0", inside=drawing), gpu("03:00.0", inside=hidden)))

    assert node(found)["used"] == [
        {"owner": "process:python3", "devices": [0]},
        {"owner": "process:77, nvidia-cuda-mps", "devices": [2]},
    ]
    assert loaded(found).overview()[0]["free_devices"] == 1


def test_identifiers_that_several_devices_have_are_left_out_and_the_devices_kept() -> None:
    masked = "<uuid>GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx</uuid><serial>unknown</serial>"
    same = "<uuid>GPU-11111111-1111-1111-1111-111111111111</uuid>"
    found = read(log(*[gpu(f"0000000{i}:01:00.0", inside=masked) for i in range(2)]))
    repeated = read(log(*[gpu(f"0000000{i}:01:00.0", inside=same) for i in range(2)]))

    assert values(found, "uuid") == values(found, "serial") == [None, None]
    assert values(found, "pci") == ["0000:01:00.0", "0001:01:00.0"]
    assert found.findings == ()
    assert values(repeated, "uuid") == [None, None]
    assert codes(repeated) == ["ID_REPEATED"]


def test_the_pci_id_settles_what_the_name_leaves_open() -> None:
    pci = "<pci><pci_device_id>20B510DE</pci_device_id></pci>"
    found = read(log(gpu(product="NVIDIA A100", inside=pci), gpu("02:00.0", product="NVIDIA A100")))

    assert values(found, "sku") == ["A100-PCIE-80GB", "unknown"]
    assert codes(found) == ["MODEL_AMBIGUOUS"]
    assert "A100-SXM4-80GB, A100-PCIE-80GB" in found.findings[0].message


def test_names_that_contradict_each_other_are_not_believed() -> None:
    pci = "<pci><pci_device_id>1EB810DE</pci_device_id></pci>"
    found = read(log(gpu(inside=pci)))

    assert values(found, "sku") == ["unknown"]
    assert codes(found) == ["MODEL_AMBIGUOUS"]


def test_memory_that_contradicts_the_model_is_kept_and_named() -> None:
    found = read(log(gpu(mib=40960)))

    assert (values(found, "sku"), values(found, "memory_mib")) == (["A100-SXM4-80GB"], [40960])
    assert codes(found) == ["MEMORY_CONTRADICTS"]


def test_a_log_that_was_cut_is_read_as_far_as_it_goes() -> None:
    text = log(*[gpu(f"0{i}:00.0") for i in range(1, 5)])
    cut = text[: text.index("<fb_memory_usage>", text.index('"03:00.0"')) + 4]
    found = read(cut)

    assert values(found, "pci") == ["0000:01:00.0", "0000:02:00.0", "0000:03:00.0"]
    assert values(found, "memory_mib") == [81920, 81920, None]
    assert [(finding.code, finding.message) for finding in found.findings] == [
        ("TRUNCATED", "line 16: the GPU that begins in line 14 ends or breaks here"),
        ("TRUNCATED", "the log tells of 4 GPUs, 3 were read; indices count those that are printed"),
    ]


def test_a_damaged_gpu_leaves_the_others_readable() -> None:
    broken = gpu("02:00.0").replace("</fb_memory_usage>", "")
    found = read(log(gpu("01:00.0"), broken, gpu("03:00.0")))

    assert values(found, "id") == [0, 1, 2]
    assert values(found, "memory_mib")[::2] == [81920, 81920]
    assert [finding.message for finding in found.findings] == [
        "line 13: the GPU that begins in line 9 ends or breaks here"
    ]


def test_two_gpus_without_a_line_between_them_are_not_made_one() -> None:
    text = log(gpu("01:00.0", inside="<uuid>a</uuid>"), gpu("02:00.0", inside="<uuid>b</uuid>"), gpu("03:00.0"))
    found = read(text.replace('</gpu>\n<gpu id="02:00.0">\n', ""))

    assert values(found, "pci") == ["0000:03:00.0"]
    assert set(codes(found)) == {"TRUNCATED"}


def test_of_two_logs_the_first_is_read() -> None:
    found = read(log(gpu()) + log(gpu()))

    assert values(found, "id") == [0]
    assert codes(found) == ["TEXT_LEFT_OVER"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!DOCTYPE nvidia_smi_log [<!ENTITY a 'b'>]>\n" + log(gpu()), "line:1: XML with entities of its own"),
        (log(), "no device can be read from this text; give all that `nvidia-smi -q -x` prints"),
        (log("<gpu id='x'>"), "no device can be read"),
        (log(*["<gpu>"] * 1025), "more than 1024 GPUs"),
        ("x" * (4 * 1024 * 1024 + 1), "larger than"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidDocument, match=re.escape(message)):
        read(text)


def test_entities_of_others_are_not_expanded() -> None:
    found = read(log(gpu(product="A&bomb;B"), gpu("02:00.0")))

    assert values(found, "product") == [None, A100]
    assert values(found, "sku") == ["unknown", "A100-SXM4-80GB"]
    assert codes(found) == ["PRODUCT_NOT_PRINTED", "TRUNCATED"]


def test_other_texts_are_not_recognised() -> None:
    assert not nvidia_xml.recognises("<html><gpu></gpu></html>")
    assert not nvidia_xml.recognises("")
