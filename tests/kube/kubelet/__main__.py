"""Watch pods and nodes, run what is bound, serve logs and exec: `python -m tests.kube.kubelet KUBECONFIG PORT`."""

import asyncio
import contextlib
import json
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.kube.kubelet.pod import PodRun
from tests.kube.kubelet.server import application

GONE = {404, 409}  # deleted, or deleted and made again under the same name
RETRY_S = 0.2


class Kubelet:
    """The one kubelet of all nodes."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.runs: dict[str, PodRun] = {}
        self._session = session
        self._awake: dict[str, asyncio.Event] = {}

    async def watch_pods(self) -> None:
        async for event, pod in self._watch("/api/v1/pods?fieldSelector=spec.nodeName!%3D"):
            uid = pod["metadata"]["uid"]
            if event == "DELETED":
                await self._forget(uid)
                continue
            if uid not in self.runs and pod["status"]["phase"] not in {"Succeeded", "Failed"}:
                self.runs[uid] = PodRun(pod, self)
            if "deletionTimestamp" in pod["metadata"] and uid in self.runs:
                self.runs[uid].delete(pod["metadata"]["deletionGracePeriodSeconds"])

    async def watch_nodes(self) -> None:
        async for _, node in self._watch("/api/v1/nodes?"):
            conditions = {each["type"]: each["status"] for each in node.get("status", {}).get("conditions", [])}
            awake = self._awake.setdefault(node["metadata"]["name"], asyncio.Event())
            if conditions.get("Ready", "True") == "True":
                awake.set()
            else:
                awake.clear()

    async def patch_status(self, pod: PodRun, status: dict[str, Any]) -> None:
        body = {"metadata": {"uid": pod.uid}, "status": status}
        headers = {"Content-Type": "application/merge-patch+json"}
        await self._tell(pod, "PATCH", f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/status", body, headers)

    async def confirm_deletion(self, pod: PodRun) -> None:
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod.uid}}
        await self._tell(pod, "DELETE", f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}", body)

    async def stop(self) -> None:
        for uid in list(self.runs):
            await self._forget(uid)

    async def _forget(self, uid: str) -> None:
        run = self.runs.pop(uid, None)
        if run:
            await run.stop()

    async def _tell(
        self, pod: PodRun, method: str, path: str, body: Any, headers: dict[str, str] | None = None
    ) -> None:
        """Say it when the node is there and the API server answers; a pod that is gone needs nothing said."""
        await self._awake.setdefault(pod.node_name, asyncio.Event()).wait()
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with self._session.request(method, path, json=body, headers=headers) as response:
                    if response.ok or response.status in GONE:
                        return
                    print(method, path, response.status, await response.text(), flush=True)  # noqa: T201 - its log
            await asyncio.sleep(RETRY_S)

    async def _watch(self, path: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Give each change, and after every break all that there is again."""
        while True:
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with self._session.get(f"{path}&watch=1") as response:
                    response.raise_for_status()
                    async for line in _lines(response):
                        change = json.loads(line)
                        if change["type"] == "ERROR":
                            break
                        yield change["type"], change["object"]
            await asyncio.sleep(RETRY_S)


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in response.content.iter_any():  # a line of a watch may be longer than readline allows
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line


async def main(content: dict[str, Any], port: int) -> None:
    server = content["clusters"][0]["cluster"]
    token = content["users"][0]["user"]["token"]
    certificate = Path(server["certificate-authority"])
    trust = ssl.create_default_context(cafile=certificate)
    identity = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    identity.load_cert_chain(certificate, certificate.with_suffix(".key"))
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    loop.add_reader(sys.stdin, stopped.set)  # nobody writes: readable is when the tests have gone
    async with aiohttp.ClientSession(
        server["server"],
        connector=aiohttp.TCPConnector(ssl=trust, limit=0),
        headers={"Authorization": f"Bearer {token}"},
        timeout=aiohttp.ClientTimeout(total=None, connect=5),
    ) as session:
        kubelet = Kubelet(session)
        runner = web.AppRunner(application(kubelet.runs), access_log=None, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=identity).start()
        watches: list[Callable[[], Any]] = [kubelet.watch_pods, kubelet.watch_nodes]
        tasks = [asyncio.create_task(watch()) for watch in watches]
        await asyncio.wait([asyncio.create_task(stopped.wait()), *tasks], return_when=asyncio.FIRST_COMPLETED)
        broken = [task for task in tasks if task.done()]
        for task in tasks:
            task.cancel()
        await kubelet.stop()
        await runner.cleanup()
        for task in broken:
            task.result()  # raises what broke it


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2])))
