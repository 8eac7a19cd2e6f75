import pytest

from hetero_ops.inventory.printed import asset_table, dispatch, hl_smi, npu_smi, scontrol, xpu_smi
from tests.inventory.printed.outcome import text_of

SAMPLES = [
    ("npu-smi/8npu-32gb-name-masked.txt", npu_smi),
    ("npu-smi/910b4-1-masked-bus.txt", npu_smi),
    ("npu-smi/910b4-in-use-cut.txt", npu_smi),
    ("hl-smi/gaudi2-8-hl-1.22.txt", hl_smi),
    ("xpu-smi/arc-b580-detail.txt", xpu_smi),
    ("xpu-smi/arc-pro-b60-8gpu-topology-cut.txt", xpu_smi),
    ("xpu-smi/unnamed-0x020a-discovery.json", xpu_smi),
    ("scontrol/3-cloud-nodes-no-gres.txt", scontrol),
    ("scontrol/gres-lines-only.txt", scontrol),
]


@pytest.mark.parametrize(("name", "reader"), SAMPLES)
def test_every_sample_has_one_reader(test_data, name, reader):
    text = text_of(test_data, name)
    assert [each for each in dispatch.READERS if each.recognises(text)] == [reader]
    assert dispatch.find_reader(text) is reader


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"kind": "List", "items": []}',
        "kind: List\nitems: []\n",
        "sn,cpu_milli,memory_mib,gpu,model\na,1,1,1,T4\n",
        "GPU 0: Tesla T4 (UUID: GPU-1)\n",
        "# a comment\n",
        "node\n",
        '"a\n',
    ],
)
def test_other_texts_have_none(text):
    assert dispatch.find_reader(text) is None


def test_a_table_of_assets_is_recognised_by_its_header():
    assert dispatch.find_reader("Hostname;GPU Model;Qty\na;T4;1\n") is asset_table
