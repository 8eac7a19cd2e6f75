"""What `kubectl get -o json` or `-o yaml` printed, sorted into what is read here."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from hetero_ops.document.field import Field
from hetero_ops.document.text import DocumentText
from hetero_ops.inventory.finding import Finding

_COMMAND = "kubectl get nodes,pods -A -o json"
_LISTS = {
    "List": None,
    "NodeList": "Node",
    "PodList": "Pod",
    "NodeResourceTopologyList": "NodeResourceTopology",
}
# An object without a kind whose keys and values are those of labels.
_LABELS = "labels"


@dataclass(slots=True)
class Objects:
    """The objects of one or more inputs, in the order given."""

    nodes: list[Field] = field(default_factory=list)
    pods: list[Field] = field(default_factory=list)
    topologies: list[Field] = field(default_factory=list)
    labels: list[Field] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    def findings(self) -> list[Finding]:
        """Note the objects that are not read here."""
        return [
            Finding("NOT_A_NODE", "", f"{count} of kind {kind}: neither Node nor Pod, left out")
            for kind, count in sorted(self.others.items())
        ]


def sort_objects(texts: list[DocumentText], *, takes_labels: bool = False) -> Objects:
    """Sort the objects of several inputs.

    Args:
        texts: the inputs.
        takes_labels: whether labels without their node are taken too.

    Raises:
        InvalidDocument: an input is no output of the Kubernetes API, or no node is told of in any.
    """
    objects = Objects()
    lists = {
        "Node": objects.nodes,
        "Pod": objects.pods,
        "NodeResourceTopology": objects.topologies,
        _LABELS: objects.labels,
    }
    for text in texts:
        for kind, item in _walk(Field(text.value, text)):
            if kind == _LABELS and not takes_labels:
                fix = f"give the output of `{_COMMAND}`, or say whose they are by --node NAME"
                raise item.refuse("these are the labels of a node, without the node", fix)
            if kind in lists:
                lists[kind].append(item)
            else:
                objects.others[kind[:60]] += 1
    if not (objects.nodes or objects.topologies or objects.labels):
        what = "pods without their nodes" if objects.pods else "no node among the objects"
        raise Field(None, texts[0]).refuse(what, f"give the output of `{_COMMAND}`")
    return objects


def _walk(root: Field) -> Iterator[tuple[str, Field]]:
    if isinstance(root.value, list):
        for item in root.items():
            yield _kind(item), item
        return
    kind = _kind(root)
    if kind not in _LISTS:
        yield kind, root
        return
    for item in root.get("items").items():
        # The API leaves the kind out inside of a list of one kind.
        yield _LISTS[kind] or _kind(item), item


def _kind(item: Field) -> str:
    kind = item.get("kind").string()
    if kind:
        return kind
    if _is_labels(item):
        return _LABELS
    raise item.refuse("an object without a kind", f"give the output of `{_COMMAND}`")


def _is_labels(item: Field) -> bool:
    labels = item.mapping()
    return any("/" in key for key in labels) and all(isinstance(value, str) for value in labels.values())
