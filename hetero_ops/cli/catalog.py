"""`hetero-ops catalog`: what is known of each accelerator, with source and confidence."""

from enum import StrEnum
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.catalog_add import add
from hetero_ops.cli.catalog_advise import advise
from hetero_ops.cli.catalog_compare import compare
from hetero_ops.cli.catalog_curve import curve
from hetero_ops.cli.catalog_sheet import sheet
from hetero_ops.cli.catalog_units import units
from hetero_ops.cli.output import Format, print_table, to_json, write
from hetero_ops.errors import UnknownDevice
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.override import API_VERSION
from hetero_ops.gap.profile import Profile
from hetero_ops.units import format_memory

app = typer.Typer(no_args_is_help=True, help="What is known of each accelerator, with source and confidence.")
app.command("compare")(compare)
app.command("units")(units)
app.command("curve")(curve)
app.command("advise")(advise)
app.command("add")(add)


class Confidence(StrEnum):
    """How sure the figures of a row are."""

    verified = "verified-in-datasheet"
    secondary = "secondary"
    recollection = "recollection"


@app.command("list")
def list_(
    vendor: Annotated[str | None, typer.Option("--vendor", help="Only this vendor.")] = None,
    accelerator_class: Annotated[str | None, typer.Option("--class", help="Only gpu, npu, tpu, lpu or cpu.")] = None,
    confidence: Annotated[Confidence | None, typer.Option("--confidence", help="Only rows this sure.")] = None,
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """List the accelerators in the catalog.

    [bold]Examples[/bold]

        hetero-ops catalog list --vendor amd

        hetero-ops catalog list --confidence recollection
    """
    catalog = Catalog.default()
    profiles = [
        profile
        for profile in catalog
        if vendor in (None, profile.vendor)
        and accelerator_class in (None, profile.accelerator_class)
        and confidence in (None, profile.confidence)
    ]
    if not profiles:
        raise UnknownDevice(_nothing_of(catalog, vendor, accelerator_class, confidence))
    if json or form is Format.json:
        write(to_json([profile.model_dump(mode="json") for profile in profiles]), output)
        return
    columns = ("sku", "vendor", "class", "memory", "bf16 TFLOPS", "fp8 TFLOPS", "link", "confidence")
    print_table(columns, map(_row, profiles), output)


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A catalog key, or a name such as H100 or A100-80GB.")],
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Show every field of the accelerators that a name stands for, with sources and confidence.

    [bold]Examples[/bold]

        hetero-ops catalog show MI300X

        hetero-ops catalog show A100-80GB --json
    """
    profiles = Catalog.default().named(name)
    if json or form is Format.json:
        write(to_json([profile.model_dump(mode="json") for profile in profiles]), output)
        return
    write("\n".join(map(sheet, profiles)), output)


@app.command()
def schema(*, output: option.Output = None) -> None:
    """Print the JSON Schema of a profile: every attribute of an accelerator, with its unit."""
    write(to_json({"$id": f"{API_VERSION}/Profile", **Profile.model_json_schema()}), output)


def _nothing_of(catalog: Catalog, *asked: str | None) -> str:
    vendors = ", ".join(sorted({profile.vendor for profile in catalog}))
    what = " ".join(filter(None, asked))
    return f"nothing in the catalog is {what!r}; vendors: {vendors}; classes: gpu, npu, tpu, lpu, cpu"


def _row(profile: Profile) -> tuple[str, ...]:
    rates = profile.rates
    return (
        profile.sku,
        profile.vendor,
        profile.accelerator_class,
        "?" if profile.memory_mib is None else format_memory(profile.memory_mib),
        _rate(rates.of("bf16")),
        _rate(rates.of("fp8")),
        profile.interconnect or "?",
        profile.confidence,
    )


def _rate(rate: float | None) -> str:
    return "?" if rate is None else f"{rate:g}" if rate else "-"
