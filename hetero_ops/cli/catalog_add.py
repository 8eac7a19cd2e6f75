"""`hetero-ops catalog add`: describe an accelerator in a site's catalog file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hetero_ops.cli import option
from hetero_ops.cli.catalog_strangers import strangers
from hetero_ops.cli.output import note, write
from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import VARIABLE, Catalog
from hetero_ops.gap.catalog_text import document_text, with_entry


def add(
    sku: Annotated[str | None, typer.Option("--sku", help="Key of a new accelerator.")] = None,
    extends: Annotated[
        str | None, typer.Option("--extends", help="Key of the one to change, or to start from.")
    ] = None,
    vendor: Annotated[str | None, typer.Option("--vendor", help="Its vendor, as in the catalog.")] = None,
    accelerator_class: Annotated[str | None, typer.Option("--class", help="gpu, npu, tpu, lpu or cpu.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="Its model, a name that people can ask for.")] = None,
    memory: Annotated[str | None, typer.Option("--memory", help="Nominal, of one device: 80GB.")] = None,
    bandwidth: Annotated[str | None, typer.Option("--bandwidth", help="Of its memory: 3.35TB/s.")] = None,
    rates: Annotated[
        list[str] | None, typer.Option("--rate", help="Dense rate, as bf16_tflops=989 or int8_tops=1979; repeat.")
    ] = None,
    tdp_watts: Annotated[float | None, typer.Option("--tdp-watts", help="Board limit of one device.")] = None,
    names: Annotated[list[str] | None, typer.Option("--name", help="One more name of it; repeat.")] = None,
    label: Annotated[str | None, typer.Option("--label", help="Product label on Kubernetes nodes.")] = None,
    price: Annotated[float | None, typer.Option("--price", help="Of one device-hour; needs --currency.")] = None,
    currency: Annotated[str | None, typer.Option("--currency", help="Of the price.")] = None,
    unit: Annotated[float | None, typer.Option("--unit", help="Billing coefficient.")] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other key, as memory_type=HBM3 or pci_ids=[10de:2330]; repeat."),
    ] = None,
    sources: Annotated[
        list[str] | None,
        typer.Option("--from", help="Describe what is unknown in this output of a vendor's tool or cluster; repeat."),
    ] = None,
    *,
    this_machine: Annotated[
        bool, typer.Option("--this-machine", help="Describe what is unknown of what the tools on this machine print.")
    ] = False,
    output: option.Output = None,
) -> None:
    """Describe an accelerator: the entry is checked, then added to the file given by -o, or printed.

    [bold]Examples[/bold]

        hetero-ops catalog add --sku Acme-X1-32GB --vendor intel --class npu --model X1 --memory 32GB -o my.yaml

        hetero-ops catalog add --extends T4 --unit 0.3 --price 0.4 --currency EUR -o my.yaml

        hetero-ops catalog add --this-machine -o my.yaml
    """
    given = {
        "sku": sku,
        "extends": extends,
        "vendor": vendor,
        "class": accelerator_class,
        "model": model,
        "memory": memory,
        "bandwidth": bandwidth,
        **_pairs(rates, "--rate"),
        "tdp_watts": tdp_watts,
        "names": names or None,
        "k8s_label": label,
        "price_per_hour": price,
        "currency": currency,
        "unit_coefficient": unit,
        **_pairs(fields, "--set"),
    }
    entry = {key: value for key, value in given.items() if value is not None}
    if sources or this_machine:
        if entry:
            raise typer.BadParameter("machines say it, so give no other field", param_hint="--from or --this-machine")
        entries = strangers(sources or [], this_machine=this_machine)
    elif "sku" in entry or "extends" in entry:
        entries = [entry]
    else:
        raise typer.BadParameter("say what it is", param_hint="--sku, --extends, --from or --this-machine")
    for described in entries:
        _add(described, output)


def _add(entry: dict[str, Any], output: Path | None) -> None:
    if output is None:
        Catalog.default().with_document(read_text(document_text(entry), "the new entry"))
        write(document_text(entry), None)
        return
    text = _extended(output, entry)
    Catalog.builtin().with_document(read_text(text, str(output)))
    write(text, output)
    name = entry.get("sku", entry.get("extends"))
    note(f"hetero-ops: {name} is in {output}; `export {VARIABLE}={output}` uses it")


def _pairs(texts: list[str] | None, hint: str) -> dict[str, Any]:
    """Reads `key=value`, the value as YAML would be read."""
    found = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not value:
            raise typer.BadParameter(f"{text!r} is not KEY=VALUE", param_hint=hint)
        found[key.strip()] = read_text(f"value: {value}", hint).value["value"]
    return found


def _extended(output: Path, entry: dict[str, Any]) -> str:
    try:
        there = output.read_text(encoding="utf-8")
    except FileNotFoundError:
        return document_text(entry)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidDocument(f"{output}: cannot be read: {error}; check -o") from None
    return with_entry(there, entry, str(output)) if there.strip() else document_text(entry)
