"""Nodes, device classes, resource slices, claims and pods, as plain dicts of the API."""

from typing import Any

from tests.kube.api import Object

NOW = "2026-01-01T00:00:00Z"
LABEL = "hetero.test/of"

# What each vendor's device plugin calls its devices, and its DRA driver. A fake node has one or the other, never both:
# the same device would be counted twice.
RESOURCE = {
    "nvidia": "nvidia.com/gpu",
    "amd": "amd.com/gpu",
    "intel": "gpu.intel.com/i915",
    "ascend": "huawei.com/Ascend910",
}
DRIVER = {"nvidia": "gpu.nvidia.com", "amd": "gpu.amd.com", "intel": "gpu.intel.com", "ascend": "npu.huawei.com"}


def node(name: str, resources: dict[str, str], kubelet_port: int, taints: list[Object] | None = None) -> Object:
    capacity = {"cpu": "64", "memory": "512Gi", "pods": "110"} | resources
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": NOW, "lastTransitionTime": NOW}
    status = {
        "capacity": capacity,
        "allocatable": capacity,
        "conditions": [ready],
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
        "declaredFeatures": ["ExtendWebSocketsToKubelet"],  # or exec arrives as SPDY, which the kubelet cannot speak
    }
    labels = {"kubernetes.io/hostname": name}
    return _object("Node", name, labels) | {"spec": {"taints": taints or []}, "status": status}


def device_class(name: str, vendor: str) -> Object:
    selectors = [{"cel": {"expression": f"device.driver == '{DRIVER[vendor]}'"}}]
    return _resource("DeviceClass", name) | {"spec": {"selectors": selectors}}


def resource_slice(node_name: str, vendor: str, count: int, memory: str, product: str) -> Object:
    devices = [
        {
            "name": f"dev-{index}",
            "attributes": {"productName": {"string": product}, "index": {"int": index}},
            "capacity": {"memory": {"value": memory}},
        }
        for index in range(count)
    ]
    pool = {"name": node_name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER[vendor], "nodeName": node_name, "pool": pool, "devices": devices}
    return _resource("ResourceSlice", f"{node_name}-{vendor}") | {"spec": spec}


def at_least(vendor: str, memory: str) -> str:
    """Give the CEL of "has this much memory"; the domain of a capacity is its driver."""
    return f"device.capacity['{DRIVER[vendor]}'].memory.compareTo(quantity('{memory}')) >= 0"


def device_request(device_class_name: str, count: int, cel: str | None = None) -> Object:
    selectors = [{"cel": {"expression": cel}}] if cel else []
    return {"deviceClassName": device_class_name, "count": count, "selectors": selectors}


def claim_template(name: str, *requests: Object) -> Object:
    return _resource("ResourceClaimTemplate", name) | {"spec": {"spec": {"devices": {"requests": list(requests)}}}}


def pod(
    name: str, *, limits: dict[str, str] | None = None, template: str | None = None, say: dict[str, str] | None = None
) -> Object:
    """Give a pod of one container; `say` tells the kubelet how it fares, see `kubelet`."""
    container: dict[str, Any] = {"name": "base", "image": "none", "resources": {"limits": limits or {}}}
    spec: dict[str, Any] = {"containers": [container], "restartPolicy": "Never", "terminationGracePeriodSeconds": 2}
    if template:
        spec["resourceClaims"] = [{"name": "devices", "resourceClaimTemplateName": template}]
        container["resources"]["claims"] = [{"name": "devices"}]
    made = _object("Pod", name) | {"spec": spec}
    made["metadata"]["annotations"] = {f"hetero.test/{key}": value for key, value in (say or {}).items()}
    return made


def _object(kind: str, name: str, labels: dict[str, str] | None = None, api: str = "v1") -> Object:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "labels": labels or {}}}


def _resource(kind: str, name: str) -> Object:
    return _object(kind, name, api="resource.k8s.io/v1")
