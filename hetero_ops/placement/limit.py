"""Quotas of teams: from the limits of a document to what the core counts by."""

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import ModelName
from hetero_ops.gap.meaning import unknown_name


def compile_limits(entries: Iterable[dict[str, Any]], catalog: Catalog, foreign_models: Sequence[str]) -> bytes:
    """The limits of a document, as JSON for the core: names looked up as in a requirement.

    Args:
        entries: `team`, `per` (class, vendor, family, model or sku), `name` and `devices` of each.
        catalog: where names are looked up.
        foreign_models: models of the fleet that the catalog does not have.

    Raises:
        InvalidDocument: a name that limits nothing, with the path of the limit.
    """
    compiled = []
    for index, entry in enumerate(entries):
        try:
            compiled.append({**entry, **_meaning(entry["per"], entry["name"], catalog, foreign_models)})
        except InvalidRequirement as error:
            raise InvalidDocument(str(error), f"limits[{index}].name") from None
    return json.dumps(compiled).encode()


def _meaning(per: str, name: str, catalog: Catalog, foreign_models: Sequence[str]) -> dict[str, Any]:
    if per in {"model", "sku"}:
        skus = [profile.sku for profile in catalog.resolve(name) if per == "model" or profile.sku == name]
        models = [model for model in foreign_models if per == "model" and model.casefold() == name.casefold()]
        if not skus and not models:
            raise InvalidRequirement(unknown_name(ModelName(name=name), catalog, foreign_models))
        return {"name": name, "skus": skus, "models": models}
    field = {"class": "accelerator_class"}.get(per, per)
    known = {value.casefold(): value for profile in catalog if (value := getattr(profile, field))}
    if name.casefold() not in known:
        close = get_close_matches(name.casefold(), known, 1)
        hint = f"did you mean {known[close[0]]!r}?" if close else f"there is {', '.join(sorted(known.values()))}"
        raise InvalidRequirement(f"no {per} is called {name!r}; {hint}")
    return {"name": known[name.casefold()], "skus": [], "models": []}
