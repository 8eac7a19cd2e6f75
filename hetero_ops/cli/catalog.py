"""`hetero-ops catalog`: what is known of each accelerator, with source and confidence."""

from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.output import Format, print_table, to_json, write
from hetero_ops.errors import UnknownDevice
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.profile import Profile
from hetero_ops.units import format_memory

app = typer.Typer(no_args_is_help=True, help="What is known of each accelerator, with source and confidence.")


@app.command("list")
def list_(
    vendor: Annotated[str | None, typer.Option("--vendor", help="Only this vendor.")] = None,
    accelerator_class: Annotated[str | None, typer.Option("--class", help="Only gpu, npu, tpu, lpu or cpu.")] = None,
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """List the accelerators in the catalog.

    [bold]Example[/bold]

        hetero-ops catalog list --vendor amd
    """
    profiles = [
        profile
        for profile in Catalog.builtin()
        if vendor in (None, profile.vendor) and accelerator_class in (None, profile.accelerator_class)
    ]
    if not profiles:
        raise UnknownDevice(_nothing_of(vendor, accelerator_class))
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
    catalog = Catalog.builtin()
    profiles = catalog.resolve(name)
    if not profiles:
        near = catalog.suggest(name)
        hint = f"did you mean {near!r}?" if near else "`hetero-ops catalog list` shows what is known"
        raise UnknownDevice(f"{name!r} is not in the catalog; {hint}")
    if json or form is Format.json:
        write(to_json([profile.model_dump(mode="json") for profile in profiles]), output)
        return
    write("\n".join(map(_sheet, profiles)), output)


def _nothing_of(vendor: str | None, accelerator_class: str | None) -> str:
    vendors = ", ".join(sorted({profile.vendor for profile in Catalog.builtin()}))
    asked = " ".join(filter(None, (vendor, accelerator_class)))
    return f"nothing in the catalog is {asked!r}; vendors: {vendors}; classes: gpu, npu, tpu, lpu, cpu"


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


def _sheet(profile: Profile) -> str:
    fields = profile.model_dump(mode="json", exclude={"sku"})
    lines = [profile.sku, *(f"  {field:<30} {_shown(value)}" for field, value in fields.items())]
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(" ".join(map(str, item)) if isinstance(item, list) else str(item) for item in value) or "-"
    return str(value)
