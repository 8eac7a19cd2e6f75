"""A cluster as the Kubernetes API prints it, of any size: the same seed gives the same bytes.

Objects have what real ones have and nobody here reads (managed fields, images, conditions, volumes, environment), since
that is what makes an export large: about 8 KB an object.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Labels and resources of each kind of node, as GPU feature discovery, ROCm's node labeller, the labels of the Intel GPU
# plugin and the Kubernetes API page of mind-cluster have them.
_KINDS: list[tuple[dict[str, str], str, int]] = [
    (
        {
            "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
            "nvidia.com/gpu.memory": "81559",
            "nvidia.com/gpu.count": "8",
            "nvidia.com/gpu.replicas": "1",
            "nvidia.com/mig.strategy": "single",
            "nvidia.com/cuda.driver-version.full": "580.65.06",
            "nvidia.com/cuda.runtime-version.full": "13.0",
        },
        "nvidia.com/gpu",
        8,
    ),
    (
        {
            "nvidia.com/gpu.product": "Tesla-T4",
            "nvidia.com/gpu.memory": "15360",
            "nvidia.com/gpu.count": "4",
            "nvidia.com/gpu.replicas": "1",
        },
        "nvidia.com/gpu",
        4,
    ),
    ({"amd.com/gpu.device-id": "74a1", "beta.amd.com/gpu.device-id.74a1": "8"}, "amd.com/gpu", 8),
    ({"gpu.intel.com/product": "Max_1550", "gpu.intel.com/device.count": "4"}, "gpu.intel.com/i915", 4),
    ({"node.kubernetes.io/npu.chip.name": "910B3", "accelerator": "huawei-Ascend910"}, "huawei.com/Ascend910", 8),
    ({}, "", 0),
]
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def write_cluster(path: Path, nodes: int, pods: int, seed: int = 0) -> int:
    """Write a List of nodes and pods as one line of JSON; give its size in bytes."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": ""}, "items": [')
        for number, item in enumerate(items(nodes, pods, seed)):
            file.write((", " if number else "") + json.dumps(item))
        file.write("]}\n")
    return path.stat().st_size


def items(nodes: int, pods: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Give the objects: all nodes, then all pods, which hold no more devices than there are."""
    rng = random.Random(seed)
    free: list[tuple[str, str, int]] = []
    for number in range(nodes):
        labels, key, devices = _KINDS[rng.randrange(len(_KINDS))]
        name = f"node-{number:05d}.pool-{number % 16}.example"
        free.append((name, key, devices))
        yield _node(rng, name, labels, {key: str(devices)} if key else {})
    for number in range(pods):
        at = rng.randrange(nodes)
        name, key, devices = free[at]
        wanted = rng.randint(0, min(devices, 2))
        free[at] = (name, key, devices - wanted)
        yield _pod(rng, f"train-{number:06d}", name, {key: str(wanted)} if wanted else {})


def _word(rng: random.Random, length: int) -> str:
    return "".join(rng.choices(_LETTERS, k=length))


def _uid(rng: random.Random) -> str:
    return "-".join(f"{rng.getrandbits(4 * size):0{size}x}" for size in (8, 4, 4, 4, 12))


def _managed(fields: dict[str, Any], manager: str) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-11-29T06:30:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


def _fields_of(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    return {".": {}, **{f"f:{key}": _fields_of(child) for key, child in value.items()}}


def _meta(rng: random.Random, name: str, labels: dict[str, str], annotations: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "uid": _uid(rng),
        "resourceVersion": str(rng.getrandbits(32)),
        "creationTimestamp": "2026-10-01T00:00:00Z",
        "labels": labels,
        "annotations": annotations,
    }


def _node(rng: random.Random, name: str, labels: dict[str, str], devices: dict[str, str]) -> dict[str, Any]:
    amounts = {
        "cpu": "128",
        "memory": "2113563132Ki",
        "pods": "250",
        "ephemeral-storage": "1843227572Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        **devices,
    }
    features = {f"feature.node.kubernetes.io/cpu-cpuid.{_word(rng, 8).upper()}": "true" for _ in range(20)}
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "bare-metal",
        "topology.kubernetes.io/region": "eu-west",
        "topology.kubernetes.io/zone": f"eu-west-{rng.randint(1, 3)}",
        **labels,
        **features,
    }
    annotations = {
        "csi.volume.kubernetes.io/nodeid": json.dumps({"disk.csi.example": name}),
        "node.alpha.kubernetes.io/ttl": "0",
        "nfd.node.kubernetes.io/feature-labels": ",".join(features),
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    }
    conditions = [
        {
            "type": kind,
            "status": "True" if kind == "Ready" else "False",
            "lastHeartbeatTime": "2026-11-29T09:59:30Z",
            "lastTransitionTime": "2026-10-01T00:01:00Z",
            "reason": f"Kubelet{kind}",
            "message": f"kubelet has told of {kind} that there is nothing to tell",
        }
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]
    images = [
        {
            "names": [f"registry.example/{_word(rng, 12)}@sha256:{rng.getrandbits(256):064x}"],
            "sizeBytes": rng.getrandbits(32),
        }
        for _ in range(20)
    ]
    status = {
        "capacity": amounts,
        "allocatable": amounts,
        "conditions": conditions,
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": name}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "machineID": _word(rng, 32),
            "kubeletVersion": "v1.36.3",
            "osImage": "Linux",
            "architecture": "amd64",
        },
        "images": images,
    }
    meta = _meta(rng, name, labels, annotations)
    meta["managedFields"] = [
        _managed({"f:metadata": _fields_of({"labels": labels, "annotations": annotations})}, "nfd-master"),
        _managed({"f:status": _fields_of({key: status[key] for key in ("capacity", "allocatable")})}, "kubelet"),
    ]
    taints = [{"key": key, "value": "present", "effect": "NoSchedule"} for key in devices]
    spec = {"podCIDR": "10.1.0.0/24", "providerID": f"metal://{name}", **({"taints": taints} if taints else {})}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}


def _container(rng: random.Random, name: str, devices: dict[str, str]) -> dict[str, Any]:
    amounts = {"cpu": rng.choice(("500m", "2", "8")), "memory": rng.choice(("512Mi", "4Gi", "64Gi")), **devices}
    return {
        "name": name,
        "image": f"registry.example/{_word(rng, 12)}:{_word(rng, 6)}",
        "command": ["python", "-m", _word(rng, 10)],
        "env": [{"name": _word(rng, 10).upper(), "value": _word(rng, 16)} for _ in range(12)],
        "resources": {"requests": amounts, "limits": amounts},
        "volumeMounts": [{"name": _word(rng, 8), "mountPath": f"/mnt/{_word(rng, 8)}"} for _ in range(3)],
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }


def _pod(rng: random.Random, name: str, node: str, devices: dict[str, str]) -> dict[str, Any]:
    containers = [_container(rng, "main", devices), _container(rng, "logs", {})]
    spec = {
        "nodeName": node,
        "priority": rng.choice((0, 0, 100)),
        "schedulerName": "default-scheduler",
        "containers": containers,
        "volumes": [{"name": _word(rng, 8), "configMap": {"name": _word(rng, 12)}} for _ in range(3)],
        "tolerations": [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in ("a", "b", "c")],
    }
    states = [
        {
            "name": container["name"],
            "state": {"running": {"startedAt": "2026-11-29T06:30:05Z"}},
            "ready": True,
            "restartCount": 0,
            "image": container["image"],
            "imageID": f"registry.example/{_word(rng, 12)}@sha256:{rng.getrandbits(256):064x}",
            "containerID": f"containerd://{rng.getrandbits(256):064x}",
        }
        for container in containers
    ]
    status = {
        "phase": rng.choices(("Running", "Succeeded", "Pending"), (8, 1, 1))[0],
        "startTime": "2026-11-29T06:30:00Z",
        "conditions": [{"type": kind, "status": "True"} for kind in ("Initialized", "Ready", "PodScheduled")],
        "containerStatuses": states,
        "qosClass": "Guaranteed",
    }
    meta = _meta(rng, name, {"app": _word(rng, 8), "team": _word(rng, 6)}, {"example.com/note": _word(rng, 40)})
    meta["namespace"] = f"team-{rng.randint(0, 19)}"
    meta["managedFields"] = [
        _managed(
            {"f:metadata": _fields_of({"labels": meta["labels"]}), "f:spec": _fields_of(_keyed(spec))}, "operator"
        ),
        _managed({"f:status": _fields_of(_keyed(status))}, "kubelet"),
    ]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def _keyed(value: object) -> object:
    """Lists as managed fields have them: one key for each entry."""
    if isinstance(value, list):
        return {json.dumps({"name": str(index)}): _keyed(child) for index, child in enumerate(value)}
    return {key: _keyed(child) for key, child in value.items()} if isinstance(value, dict) else value
