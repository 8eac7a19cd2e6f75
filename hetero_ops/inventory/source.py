"""Where a fleet comes from: `--fleet` as a person writes it, to one fleet document with its lines."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from hetero_ops.document.refusal import refusal, shown
from hetero_ops.document.text import MAX_BYTES, DocumentText, read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.merge import merge
from hetero_ops.inventory.openb import read_nodes

_SUFFIXES = (".yaml", ".yml", ".json")
_KUBERNETES_KINDS = ("List", "Node", "NodeList", "Pod", "PodList", "NodeResourceTopology", "NodeResourceTopologyList")
_STANDARD_INPUT = "standard input"
_EXPORT = "kubectl get nodes,pods -A -o json | hetero-ops fleet import - -o fleet.yaml"


@dataclass(frozen=True, slots=True)
class FleetSource:
    """A fleet document as plain data, not validated yet.

    Attributes:
        document: the document; several files are merged into it.
        name: the source as it was asked for.
        origins: which file holds a part of the document, and under which path there; the longest path counts.
    """

    document: dict[str, Any]
    name: str
    origins: dict[str, tuple[DocumentText, str]] = field(default_factory=dict, repr=False)

    def line_of(self, path: str) -> int | None:
        """Give the 1-based line of a path of the document, in the file that holds it."""
        origin = self._origin(path)
        return None if origin is None else origin[0].line_of(origin[1])

    def where(self, path: str) -> str:
        """Give `file:line` of a path of the document."""
        origin = self._origin(path)
        return self.name if origin is None else origin[0].where(origin[1])

    def _origin(self, path: str) -> tuple[DocumentText, str] | None:
        ends = [len(path), *(index for index in range(len(path) - 1, -1, -1) if path[index] in ".["), 0]
        for end in ends:
            if path[:end] in self.origins:
                text, prefix = self.origins[path[:end]]
                rest = path[end:] if prefix else path[end:].removeprefix(".")
                return text, prefix + rest
        return None


def read_fleet(source: str, catalog: Catalog, *, max_bytes: int = MAX_BYTES) -> FleetSource:
    """Read what `--fleet` names: a file, `-`, a directory, or a node list of the openb trace (`.csv`).

    Raises:
        InvalidDocument: there is no such source, or it holds no fleet.
    """
    _refuse_what_is_not_read_yet(source)
    if source == "-":
        return _single(_read(sys.stdin.buffer, _STANDARD_INPUT, max_bytes))
    path = Path(source)
    try:
        if path.is_dir():
            return _directory(path, source, max_bytes)
        with path.open("rb") as file:
            if path.suffix == ".csv":
                return FleetSource(read_nodes(_limited(file, source, max_bytes), source, catalog), source)
            return _single(_read(file, source, max_bytes))
    except FileNotFoundError:
        raise refusal("there is no such file", "check the path of the fleet", source) from None
    except OSError as error:
        what = f"it cannot be read: {error.strerror or error}"
        raise refusal(what, "check its permissions", source) from None
    except ValueError as error:
        if isinstance(error, InvalidDocument):
            raise
        raise refusal(f"{shown(source)} is no path: {error}", "give the path of a fleet file") from None


def _refuse_what_is_not_read_yet(source: str) -> None:
    scheme, colon, _ = source.partition(":")
    if not source:
        raise refusal("no fleet is named", "give --fleet FILE or set HETERO_OPS_FLEET")
    if scheme == "kube":
        raise refusal("this version reads no live cluster", f"export it: {_EXPORT}", source)
    if source == "local":
        raise refusal("this version does not discover this machine", "write a fleet file and name it", source)
    if colon and scheme in ("http", "https"):
        what = "a service answers `place` and `explain` of one step, and no more"
        raise refusal(what, f"save its document: curl {source}/v1/fleet -o fleet.json", source)


def _limited(file: BinaryIO, name: str, max_bytes: int) -> bytes:
    text = file.read(max_bytes + 1)
    if len(text) > max_bytes:
        raise refusal(f"larger than {max_bytes} bytes", "split it into a directory, or raise the limit", name)
    return text


def _read(file: BinaryIO, name: str, max_bytes: int) -> DocumentText:
    return read_text(_limited(file, name, max_bytes), name, max_bytes=max_bytes)


def _single(text: DocumentText) -> FleetSource:
    _refuse_cluster_output(text)
    if not isinstance(text.value, dict) or text.value.get("kind") != "Fleet":
        kind = text.value.get("kind") if isinstance(text.value, dict) else text.value
        line = text.line_of("kind")
        raise refusal(f"no fleet document: kind is {shown(kind)}", "begin it with kind: Fleet", text.source, line)
    return FleetSource(text.value, text.source, {"": (text, "")})


def _directory(path: Path, name: str, max_bytes: int) -> FleetSource:
    texts: list[DocumentText] = []
    for file in sorted(child for child in path.iterdir() if child.suffix in _SUFFIXES and child.is_file()):
        with file.open("rb") as stream:
            text = _read(stream, str(file), max_bytes)
        _refuse_cluster_output(text)
        if isinstance(text.value, dict) and text.value.get("kind") == "Fleet":
            texts.append(text)
            max_bytes -= file.stat().st_size
    if not texts:
        raise refusal("a folder without a fleet document", "put one or more *.yaml or *.json of kind Fleet in it", name)
    merged = merge(texts)
    return FleetSource(merged.document, name, merged.origins)


def _refuse_cluster_output(text: DocumentText) -> None:
    if isinstance(text.value, dict) and text.value.get("kind") in _KUBERNETES_KINDS:
        what = f"this is output of kubectl (kind {text.value['kind']}), not a fleet document"
        name = "-" if text.source == _STANDARD_INPUT else text.source
        raise refusal(what, f"import it: hetero-ops fleet import {name} -o fleet.yaml", text.source, 1)
