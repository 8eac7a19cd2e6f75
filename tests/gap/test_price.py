from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.price import Prices, joined, read_prices, site_prices

CATALOG = Catalog.builtin()
HEAD = "provider,instance,region,price,spot,cpu,memory,gpu_vendor,gpu_name,gpu_count,gpu_memory\n"
TABLE = f"""{HEAD}\
a,x8,west,24.0,False,192,2048,nvidia,H100,8,80
a,x8,east,20.0,False,192,2048,nvidia,H100,8,80
a,x8,east,8.0,True,192,2048,nvidia,H100,8,80
b,n1,west,2.5,False,96,1024,nvidia,H100,1,94
c,m8,west,16.0,False,192,2048,amd,MI300X,8,192
c,l1,west,0.8,False,16,64,nvidia,L40S,1,44.99
d,big,west,9.0,False,64,512,nvidia,Z9000,1,300
d,cpu,west,0.1,False,4,16,,,0,
"""


def prices_of(tmp_path: Path, text: str, name: str = "prices.csv", *, is_spot: bool = False) -> Prices:
    (tmp_path / name).write_text(text)
    return read_prices(tmp_path / name, CATALOG, is_spot=is_spot)


def test_a_table_of_instances_gives_the_lowest_price_of_one_device(tmp_path: Path) -> None:
    prices = prices_of(tmp_path, TABLE)
    assert prices.by_sku == {
        "H100-SXM5-80GB": 2.5,  # a list that says H100 and 80 GB leaves SXM or PCIe open
        "H100-PCIE-80GB": 2.5,
        "H100-NVL-94GB": 2.5,
        "MI300X": 2.0,
        "L40S": 0.8,
    }
    assert (prices.unknown, prices.currency) == (("Z9000",), None)


def test_spot_rows_are_another_list(tmp_path: Path) -> None:
    assert prices_of(tmp_path, TABLE, is_spot=True).by_sku == {"H100-SXM5-80GB": 1.0, "H100-PCIE-80GB": 1.0}


def test_a_map_prices_every_device_that_a_name_means(tmp_path: Path) -> None:
    prices = prices_of(tmp_path, "currency: EUR\nT4: 0.4\nA100-80GB: 1.5\n", "prices.yaml")
    assert prices.by_sku == {"T4": 0.4, "A100-SXM4-80GB": 1.5, "A100-PCIE-80GB": 1.5}
    assert prices.currency == "EUR"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.yaml", "T4: free\n", "p.yaml:1: T4: 'free' is no price"),
        ("p.yaml", "A10: 1\nT4: 0\n", "p.yaml:2: T4: 0 is no price"),
        ("p.yaml", "H10: 1\n", "no accelerator 'H10'; did you mean 'H100'?"),
        ("p.yaml", "- T4\n", "expected a mapping"),
        ("p.csv", "price\n1\n", "p.csv:1: no columns price and gpu_name"),
        ("p.csv", "price,gpu_name\n-1,T4\n", "p.csv:2: price: '-1' is no price"),
        ("p.csv", "price,gpu_name\nx,T4\n", "'x' is no price"),
        ("p.csv", "price,gpu_name,currency\n1,T4,EUR\n1,A10,USD\n", "prices in EUR and USD"),
    ],
)
def test_a_wrong_list_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        prices_of(tmp_path, text, name)
    assert message in str(refused.value)


def test_a_missing_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="cannot be read: No such file"):
        read_prices(tmp_path / "none.yaml", CATALOG)


def test_a_list_wins_over_the_catalog_and_currencies_never_mix(tmp_path: Path) -> None:
    entries = "".join(f"  - {{extends: {sku}, price_per_hour: 9, currency: EUR}}\n" for sku in ("T4", "A10"))
    (tmp_path / "site.yaml").write_text(f"apiVersion: hetero-ops/v1\nkind: Catalog\nentries:\n{entries}")
    of_site = site_prices(Catalog.load(tmp_path / "site.yaml"))
    assert joined(Prices({"T4": 1}), of_site).by_sku == {"T4": 1, "A10": 9}
    assert joined(Prices(), of_site).currency == "EUR"
    with pytest.raises(InvalidDocument, match="prices in EUR and USD"):
        joined(Prices({"T4": 1}, "USD"), of_site)
