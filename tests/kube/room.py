"""What one test has in the cluster: a namespace, nodes, slices and classes, and the pods in between."""

import contextlib
from typing import Any

from tests.kube import objects
from tests.kube.api import Api, Object, RefusedError
from tests.kube.cluster import Cluster
from tests.kube.processes import wait_for


class Room:
    """A namespace, and everything without a namespace that was made for it and goes with it."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster = cluster
        self.api: Api = cluster.api
        self.namespace = namespace
        self.create("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})

    def clear(self) -> None:
        for what in ("pods", "resourceclaims", "resourceclaimtemplates"):
            self.api.delete_all(what, self.namespace)
        for what in ("nodes", "resourceslices", "deviceclasses"):
            self.api.delete_all(what, label=f"{objects.LABEL}={self.namespace}")
        self.api.delete("namespaces", self.namespace)

    def create(self, what: str, thing: Object, *, strict: bool = True) -> Object:
        inside = what in {"pods", "resourceclaims", "resourceclaimtemplates"}
        thing["metadata"].setdefault("labels", {})[objects.LABEL] = self.namespace
        return self.api.create(what, thing, self.namespace if inside else None, strict=strict)

    def node(self, name: str, resources: dict[str, str] | None = None, taints: list[Object] | None = None) -> Object:
        return self.create("nodes", objects.node(name, resources or {}, self.cluster.ports["kubelet"], taints))

    def node_with_devices(self, name: str, vendor: str, count: int, memory: str, product: str) -> None:
        """Make a node whose devices a DRA driver publishes, with a device class of the vendor's name."""
        self.node(name)
        self.create("resourceslices", objects.resource_slice(name, vendor, count, memory, product))
        self.create("deviceclasses", objects.device_class(vendor, vendor))

    def pod(self, name: str, **how: Any) -> str:
        self.create("pods", objects.pod(name, **how))
        return name

    def bound(self, pod: str, seconds: float = 15) -> str:
        """Wait until the scheduler has found a node; give its name."""
        wait_for(
            f"{pod} to be bound", lambda: self.api.get("pods", pod, self.namespace)["spec"].get("nodeName"), seconds
        )
        return str(self.api.get("pods", pod, self.namespace)["spec"]["nodeName"])

    def unschedulable(self, pod: str) -> str:
        """Wait until the scheduler has found none; give what it says."""
        said: list[str] = []

        def refused() -> bool:
            conditions = self.api.get("pods", pod, self.namespace)["status"].get("conditions", [])
            said.extend(each["message"] for each in conditions if each.get("reason") == "Unschedulable")
            return bool(said)

        wait_for(f"{pod} to be refused", refused)
        return said[-1]

    def phase(self, pod: str) -> str:
        return str(self.api.get("pods", pod, self.namespace)["status"]["phase"])

    def wait_for_phase(self, pod: str, phase: str) -> Object:
        wait_for(f"{pod} to be {phase}", lambda: self.phase(pod) == phase)
        return self.api.get("pods", pod, self.namespace)

    def wait_until_gone(self, pod: str, seconds: float = 15) -> None:
        def gone() -> bool:
            with contextlib.suppress(RefusedError):
                self.api.get("pods", pod, self.namespace)
                return False
            return True

        wait_for(f"{pod} to be gone", gone, seconds)

    def devices(self, pod: str) -> list[tuple[str, str, str]]:
        """Give request, pool and device of everything allocated to the claim of a pod, sorted."""
        statuses = self.api.get("pods", pod, self.namespace)["status"]["resourceClaimStatuses"]
        found = []
        for status in statuses:
            claim = self.api.get("resourceclaims", status["resourceClaimName"], self.namespace)
            found += [
                (each["request"], each["pool"], each["device"])
                for each in claim["status"]["allocation"]["devices"]["results"]
            ]
        return sorted(found)

    def log(self, pod: str, query: str = "") -> str:
        return self.api.request("GET", f"/api/v1/namespaces/{self.namespace}/pods/{pod}/log?{query}")

    def set_ready(self, node: str, status: str, taints: list[Object]) -> None:
        """Say whether a node is ready, with the taints that the node controller would put on it."""
        ready = {"type": "Ready", "status": status, "lastHeartbeatTime": objects.NOW, "lastTransitionTime": objects.NOW}
        self.api.patch("nodes", f"{node}/status", {"status": {"conditions": [ready]}})
        self.api.patch("nodes", node, {"spec": {"taints": taints}})
