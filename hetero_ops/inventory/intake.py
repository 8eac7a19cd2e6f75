"""Any mix of what tools, clusters and tables say, as one fleet document."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from hetero_ops.document.refusal import refusal
from hetero_ops.document.text import DocumentText, decode, read_stream
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.join import join
from hetero_ops.inventory.kubernetes import read_cluster
from hetero_ops.inventory.kubernetes.export_text import MAX_BYTES, read_export
from hetero_ops.inventory.nameless import without_answered
from hetero_ops.inventory.openb import is_node_list, read_nodes
from hetero_ops.inventory.printed import asset_table
from hetero_ops.inventory.printed.dispatch import Reader, find_reader
from hetero_ops.inventory.sight import Sight

STANDARD_INPUT = "-"
_TABLES = (".csv", ".tsv")
_OPENB = "openb"
_DEFAULT = "default"
_JSON_STARTS = ("{", "[")
_BEFORE_DOCUMENT = "\ufeff \t\r\n-"
_YAML_KEYS = ("apiVersion:", "kind:", "items:", "metadata:")
_JSON_KIND = re.compile(r'"kind"\s*:\s*"[A-Z]')  # no tool prints such a key
_POD_KINDS = ("Pod", "PodList")
_KNOWN = (
    "give the output of kubectl get nodes,pods -A -o json, of nvidia-smi, amd-smi, rocm-smi, npu-smi info, "
    "hl-smi, xpu-smi discovery or scontrol show node, or a CSV of assets"
)


@dataclass(frozen=True, slots=True)
class Handed:
    """A text as it was handed over: its name, which may say the node it is of, and its bytes."""

    name: str
    content: bytes


@dataclass(slots=True)
class Imported:
    """A fleet document, and what could not be settled on the way."""

    document: dict[str, Any]
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class Hints:
    """What a person says of texts that do not say it themselves.

    Attributes:
        cluster: the cluster of nodes that name none.
        node: the node of texts that name none; without it the name of the file up to its first dot.
        columns: for tables of assets, by what a column says the header that it has.
        homes: by node the cluster that it is known to be in.
    """

    cluster: str | None = None
    node: str | None = None
    columns: Mapping[str, str] | None = None
    homes: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Intake:
    """Views by cluster and node; the cluster is `None` where neither text nor hint names it."""

    catalog: Catalog
    hints: Hints
    sights: dict[tuple[str | None, str], list[Sight]] = field(default_factory=dict)
    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    kubernetes: list[DocumentText] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def add(self, source: str, cluster: str | None, fragment: Fragment) -> None:
        self.findings += fragment.findings
        for node in fragment.nodes:
            self.sights.setdefault((cluster, node["name"]), []).append(Sight(source, node))


def gather(sources: Iterable[Handed], catalog: Catalog, hints: Hints) -> Imported:
    """Read texts of any kind; those about one node are joined.

    Raises:
        InvalidDocument: a text cannot be read, or is of no kind that is known.
    """
    intake = _Intake(catalog, hints)
    for source in sources:
        _take(intake, source)
    if intake.kubernetes:
        _take_kubernetes(intake)
    return _document(intake)


def _take(intake: _Intake, source: Handed) -> None:
    text = decode(source.content, source.name)
    if not text.strip():
        raise refusal("the text is empty", _KNOWN, source.name)
    # First, and by its beginning: whatever a pod has in its annotations is no output of a tool.
    if _is_kubernetes(text):
        intake.kubernetes += _kubernetes_texts(source, text)
        return
    if is_node_list(text):
        (cluster,) = read_nodes(text, source.name, intake.catalog)["clusters"]
        intake.add(source.name, intake.hints.cluster or _OPENB, Fragment(tuple(cluster["nodes"])))
        return
    reader = find_reader(text)
    if reader is asset_table or (reader is None and _is_table(source, intake, text)):
        node, columns = intake.hints.node or "", intake.hints.columns
        for name, rows in asset_table.read_clusters(text, node, intake.catalog, columns, source.name).items():
            intake.add(source.name, name or intake.hints.cluster, rows)
    elif reader is not None:
        fragment = _read(reader, text, source, intake)
        intake.add(source.name, intake.hints.cluster, fragment)
    elif _is_document(text):
        intake.kubernetes += _kubernetes_texts(source, text)
    else:
        raise refusal("this is output of no tool that is known", _KNOWN, source.name)


def _read(reader: Reader, text: str, source: Handed, intake: _Intake) -> Fragment:
    try:
        return reader.read(text, intake.hints.node or _stem(source.name), intake.catalog)
    except InvalidDocument as error:
        where = "standard input" if source.name == STANDARD_INPUT else source.name
        raise InvalidDocument(f"{where}: {error}", error.path, error.line) from None


def _is_table(source: Handed, intake: _Intake, text: str) -> bool:
    """Tell whether an unrecognised text is a table of assets whose columns need a map."""
    return PurePath(source.name).suffix in _TABLES or (intake.hints.columns is not None and not _is_document(text))


def _stem(name: str) -> str:
    """Give the node that a file is named after: `nv-07` of `out/nv-07.smi.txt`."""
    return "" if name == STANDARD_INPUT else PurePath(name).name.split(".", 1)[0]


def _is_kubernetes(text: str) -> bool:
    start = text.lstrip(_BEFORE_DOCUMENT)
    return start.startswith(_YAML_KEYS) or (start.startswith(_JSON_STARTS) and _JSON_KIND.search(text) is not None)


def _is_document(text: str) -> bool:
    """Tell whether a text may be JSON or YAML of Kubernetes: what is wrong with it its reader knows best."""
    return text.lstrip(_BEFORE_DOCUMENT).startswith((*_JSON_STARTS, "#", "%YAML", *_YAML_KEYS))


def _kubernetes_texts(source: Handed, decoded: str) -> list[DocumentText]:
    """Read JSON, or YAML with any number of documents in it."""
    if decoded.lstrip().startswith(_JSON_STARTS):
        texts = [read_export(source.content, source.name)]
    else:
        texts = read_stream(decoded, source.name, max_bytes=MAX_BYTES)
    for text in texts:
        if isinstance(text.value, dict) and text.value.get("kind") == "Fleet":
            fix = "name it with --merge to add to it, or with --fleet to use it"
            raise refusal("this is a fleet document already", fix, source.name, text.line_of("kind"))
    return texts


def _take_kubernetes(intake: _Intake) -> None:
    name = intake.hints.cluster or _DEFAULT
    imported = read_cluster(intake.kubernetes, intake.catalog, name, node=intake.hints.node)
    (cluster,) = imported.document["clusters"]
    source = ", ".join(text.source for text in intake.kubernetes)
    # Nodes alone do not tell what is in use.
    has_pods = any(_has_pods(text.value) for text in intake.kubernetes)
    for node in cluster["nodes"]:
        node.setdefault("state", "active")
        if has_pods:
            node.setdefault("used", [])
    intake.clusters[name] = {key: value for key, value in cluster.items() if key != "nodes"}
    intake.add(source, name, Fragment(tuple(cluster["nodes"]), tuple(imported.findings)))


def _has_pods(value: Any) -> bool:  # noqa: ANN401 - any document
    if isinstance(value, dict):
        items = value.get("items")
        return value.get("kind") in _POD_KINDS or (isinstance(items, list) and _has_pods(items))
    return isinstance(value, list) and any(isinstance(item, dict) and item.get("kind") in _POD_KINDS for item in value)


def _document(intake: _Intake) -> Imported:
    named: dict[str, set[str]] = {}
    for cluster, node in intake.sights:
        if cluster is not None:
            named.setdefault(node, set()).add(cluster)
    sights: dict[tuple[str, str], list[Sight]] = {}
    for (cluster, node), views in intake.sights.items():
        home = cluster or _home(node, named, intake.hints.homes)
        sights.setdefault((home, node), []).extend(views)
    for (cluster, _), views in sights.items():
        joined, found = join(views, intake.catalog)
        intake.findings += found
        intake.clusters.setdefault(cluster, {"name": cluster}).setdefault("nodes", []).append(joined)
    clusters = [{**cluster, "nodes": cluster.get("nodes", [])} for cluster in intake.clusters.values()]
    document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters}
    return Imported(document, without_answered(intake.findings, document))


def _home(node: str, named: Mapping[str, set[str]], homes: Mapping[str, str]) -> str:
    """Give the cluster of a node whose texts name none: where another source has it, else where it was before."""
    clusters = sorted(named.get(node, ()))
    return clusters[0] if len(clusters) == 1 else homes.get(node, _DEFAULT)


def without_defaults(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out what goes without saying: active nodes, healthy devices, nothing in use."""
    clusters = [
        {**cluster, "nodes": [_without_defaults(node) for node in cluster.get("nodes", [])]}
        for cluster in document["clusters"]
    ]
    return {**document, "clusters": clusters}


def _without_defaults(node: dict[str, Any]) -> dict[str, Any]:
    devices: Sequence[dict[str, Any]] = [
        {key: value for key, value in device.items() if (key, value) != ("health", "healthy")}
        for device in node.get("devices", [])
    ]
    quiet: dict[str, tuple[Any, ...]] = {"state": ("active",), "used": ([],), "devices": ([],)}
    every = {**node, "devices": list(devices)}
    return {key: value for key, value in every.items() if value not in quiet.get(key, ())}
