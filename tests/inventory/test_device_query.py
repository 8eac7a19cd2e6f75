import pytest

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_query import find, parse_terms
from hetero_ops.inventory.device_row import rows_of

CATALOG = Catalog.builtin()
DOCUMENT = {
    "clusters": [
        {
            "name": "west",
            "nodes": [
                {
                    "name": "nv-1",
                    "project": "Speech",
                    "driver": {"nvidia": "580.65.06", "cuda": "13.0"},
                    "devices": [
                        {
                            "id": at,
                            "sku": "H100-SXM5-80GB",
                            "serial": f"165{at}",
                            "uuid": f"GPU-{at}",
                            "pci": f"0000:c{at}:00.0",
                            "slot": str(at + 1),
                            "firmware": "96.00.74",
                        }
                        for at in range(2)
                    ],
                },
                {"name": "nv-2", "pool": "edge", "state": "burn-in", "devices": [{"sku": "H100-NVL-94GB", "count": 1}]},
            ],
        },
        {
            "name": "east",
            "nodes": [
                {"name": "odd", "devices": [{"sku": "unknown", "vendor": "acme", "model": "XPU-9000", "count": 1}]},
                {"name": "host"},
            ],
        },
    ]
}


def found(*terms):
    rows = [row for row in rows_of(DOCUMENT) if row.device]
    return [f"{row.node['name']}/{row.device['id']}" for row in find(rows, parse_terms(terms), CATALOG)]


@pytest.mark.parametrize(
    ("terms", "devices"),
    [
        (["serial=1651"], ["nv-1/1"]),
        (["1651"], ["nv-1/1"]),
        (["165"], []),
        (["serial~165"], ["nv-1/0", "nv-1/1"]),
        (["uuid=gpu-0"], ["nv-1/0"]),
        (["pci=C1:00.0"], ["nv-1/1"]),
        (["slot=2"], ["nv-1/1"]),
        (["id=1"], ["nv-1/1"]),
        (["firmware~96.00"], ["nv-1/0", "nv-1/1"]),
        (["project=speech"], ["nv-1/0", "nv-1/1"]),
        (["driver=580.65.06"], ["nv-1/0", "nv-1/1"]),
        (["driver~580", "slot=1"], ["nv-1/0"]),
        (["model=H100"], ["nv-1/0", "nv-1/1", "nv-2/0"]),
        (["H100-NVL-94GB"], ["nv-2/0"]),
        (["~nvl"], ["nv-2/0"]),
        (["xpu-9000"], ["odd/0"]),
        (["vendor=nvidia", "pool=edge"], ["nv-2/0"]),
        (["cluster=east"], ["odd/0"]),
        (["state=burn-in"], ["nv-2/0"]),
        (["node=nv-1", "node=nv-2"], []),
        (["serial=none"], []),
    ],
)
def test_terms_find(terms, devices):
    assert found(*terms) == devices


@pytest.mark.parametrize(
    ("term", "what"),
    [
        ("colour=red", "devices have no 'colour'; fields are node"),
        ("", "nothing to look for"),
        ("serial=", "nothing"),
        ("~", "nothing"),
    ],
)
def test_terms_that_mean_nothing_are_refused(term, what):
    with pytest.raises(InvalidRequirement, match=what):
        parse_terms([term])
