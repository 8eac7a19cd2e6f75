"""The life of one bound pod: what its status says from start to end, and what its deletion takes."""

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import Any, Protocol

from tests.kube.kubelet.container import Container


class Node(Protocol):
    """What a pod needs of its node."""

    async def patch_status(self, pod: "PodRun", status: dict[str, Any]) -> None: ...

    async def confirm_deletion(self, pod: "PodRun") -> None: ...


class PodRun:
    """One pod that this kubelet runs."""

    def __init__(self, pod: dict[str, Any], node: Node) -> None:
        meta = pod["metadata"]
        self.namespace, self.name, self.uid = meta["namespace"], meta["name"], meta["uid"]
        self.node_name = pod["spec"]["nodeName"]
        annotations = meta.get("annotations", {})
        self.containers = {each["name"]: Container(each, annotations) for each in pod["spec"]["containers"]}
        self._pending_reason = annotations.get("hetero.test/pending-reason")
        self._node = node
        self._since = _now()
        self._life = asyncio.create_task(self._live())
        self._end: asyncio.Task[None] | None = None

    def delete(self, grace_s: float) -> None:
        """Start to end it; more than one call is as good as one."""
        self._end = self._end or asyncio.create_task(self._die(grace_s))

    async def stop(self) -> None:
        """Drop it without a word: the kubelet itself ends."""
        for task in (self._end, self._life):
            if task:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def _live(self) -> None:
        if self._pending_reason:
            waiting = {"waiting": {"reason": self._pending_reason, "message": "as the test asks"}}
            await self._report("Pending", dict.fromkeys(self.containers, waiting))
            return
        await self._report("Running")
        async with asyncio.TaskGroup() as group:
            for container in self.containers.values():
                group.create_task(self._run(container))
        failed = any(each.exit_code for each in self.containers.values())
        await self._report("Failed" if failed else "Succeeded")

    async def _run(self, container: Container) -> None:
        await container.run()
        if any(each.exit_code is None for each in self.containers.values()):
            await self._report("Running")

    async def _die(self, grace_s: float) -> None:
        for container in self.containers.values():
            container.asked_to_stop.set()
        _, unfinished = await asyncio.wait([self._life], timeout=grace_s)
        for task in unfinished:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self._node.confirm_deletion(self)

    async def _report(self, phase: str, states: dict[str, Any] | None = None) -> None:
        ready = "True" if phase == "Running" else "False"
        kinds = {"Initialized": "True", "ContainersReady": ready, "Ready": ready}
        conditions = [{"type": kind, "status": is_so, "lastTransitionTime": _now()} for kind, is_so in kinds.items()]
        statuses = [self._container_status(each, (states or {}).get(each.name)) for each in self.containers.values()]
        status = {"phase": phase, "startTime": self._since, "podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}
        await self._node.patch_status(self, status | {"conditions": conditions, "containerStatuses": statuses})

    def _container_status(self, container: Container, state: dict[str, Any] | None) -> dict[str, Any]:
        code = container.exit_code
        ended = {"exitCode": code, "reason": "Error" if code else "Completed", "finishedAt": _now()}
        running = not state and code is None
        return {
            "name": container.name,
            "image": "none",
            "imageID": "",
            "restartCount": 0,
            "started": running,
            "ready": running,
            "state": state or ({"running": {"startedAt": self._since}} if running else {"terminated": ended}),
        }


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
