"""What of an object of the API is kept: the rest is most of its size, and nobody reads it."""

from typing import Any

# Kinds that are read; of another only its kind is kept.
_KINDS = frozenset({None, "Node", "Pod", "NodeResourceTopology"})
_UNREAD = {
    "metadata": ("managedFields", "ownerReferences"),
    "spec": ("affinity", "tolerations", "volumes"),
    "status": ("containerStatuses", "images", "initContainerStatuses", "volumesAttached", "volumesInUse"),
}
_READ_OF_CONTAINER = frozenset({"name", "resources", "restartPolicy"})
# Prefixes of the annotations that are read.
READ_ANNOTATIONS = ("hetero-ops/", "huawei.com/")


def slim(item: object) -> object:
    """Drop, in place, what is not read of an item; anything that has not the shape of an object is left as it is."""
    if not isinstance(item, dict):
        return item
    kind = item.get("kind")
    if isinstance(kind, str) and kind not in _KINDS:
        return {"kind": kind}
    for part, keys in _UNREAD.items():
        inside = item.get(part)
        if isinstance(inside, dict):
            for key in keys:
                inside.pop(key, None)
    _slim_annotations(item.get("metadata"))
    _slim_containers(item.get("spec"))
    return item


def _slim_annotations(metadata: object) -> None:
    if isinstance(metadata, dict) and isinstance(annotations := metadata.get("annotations"), dict):
        metadata["annotations"] = {key: value for key, value in annotations.items() if key.startswith(READ_ANNOTATIONS)}


def _slim_containers(spec: Any) -> None:  # noqa: ANN401
    if not isinstance(spec, dict):
        return
    for part in ("containers", "initContainers"):
        if isinstance(containers := spec.get(part), list):
            spec[part] = [_slim_container(container) for container in containers]


def _slim_container(container: object) -> object:
    if not isinstance(container, dict):
        return container
    return {key: value for key, value in container.items() if key in _READ_OF_CONTAINER}
