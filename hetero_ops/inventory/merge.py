"""Several fleet documents as one, remembering which file each part came from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hetero_ops.document.field import Field
from hetero_ops.document.line_tree import join_index, join_key
from hetero_ops.document.text import DocumentText

_HEADER = ("apiVersion", "kind")
_LISTS_OF_FLEET = ("mix", "limits")
_LISTS_OF_CLUSTER = ("pools", "nodes")


@dataclass(slots=True)
class Merged:
    """A merged document. `origins` says for a path of it which file holds that part, and under which path there."""

    document: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, tuple[DocumentText, str]] = field(default_factory=dict)


def merge(texts: Sequence[DocumentText]) -> Merged:
    """Join fleet documents in the order given: clusters of one name become one, lists follow one another.

    Raises:
        InvalidDocument: two files contradict each other.
    """
    merged = Merged()
    clusters: dict[str, tuple[str, dict[str, Any]]] = {}
    for text in texts:
        for key, part in Field(text.value, text).fields():
            if key == "clusters":
                for cluster in part.items():
                    _add_cluster(merged, clusters, cluster)
            elif key in _LISTS_OF_FLEET:
                _extend(merged, merged.document, key, part)
            elif key in _HEADER or key not in merged.document:
                _set(merged, merged.document, key, part)
    return merged


def _add_cluster(merged: Merged, clusters: dict[str, tuple[str, dict[str, Any]]], cluster: Field) -> None:
    name = cluster.get("name").string()
    if not name:
        raise cluster.get("name").refuse("a cluster without a name", "give it a name: clusters of one name are joined")
    if name not in clusters:
        joined = merged.document.setdefault("clusters", [])
        path = join_index("clusters", len(joined))
        clusters[name] = (path, {})
        joined.append(clusters[name][1])
        merged.origins[path] = (cluster.text, cluster.path)
    path, into = clusters[name]
    for key, part in cluster.fields():
        if key in _LISTS_OF_CLUSTER:
            _extend(merged, into, key, part, path)
        else:
            _set(merged, into, key, part, path)


def _extend(merged: Merged, into: dict[str, Any], key: str, part: Field, path: str = "") -> None:
    together = into.setdefault(key, [])
    for item in part.items():
        merged.origins[join_index(join_key(path, key), len(together))] = (item.text, item.path)
        together.append(item.value)


def _set(merged: Merged, into: dict[str, Any], key: str, part: Field, path: str = "") -> None:
    if key not in into:
        into[key] = part.value
        merged.origins[join_key(path, key)] = (part.text, part.path)
    elif into[key] != part.value:
        other, other_path = merged.origins[join_key(path, key)]
        raise part.refuse(f"this differs from {other.where(other_path)}", "make them equal, or leave one out")
