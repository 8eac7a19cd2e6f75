"""What the API server asks a kubelet for: logs, and commands inside a container."""

import json
from datetime import UTC, datetime, timedelta

from aiohttp import WSMsgType, web

from tests.kube.kubelet.container import Container
from tests.kube.kubelet.pod import PodRun

STDOUT, STDERR, STATUS = 1, 2, 3
EMPTY = "__airflow_xcom_result_empty__"  # what the sidecar answers where there is no value
Runs = dict[str, PodRun]


def application(runs: Runs) -> web.Application:
    def container(request: web.Request) -> Container:
        asked = request.match_info
        for run in runs.values():
            if (run.namespace, run.name) == (asked["namespace"], asked["pod"]):
                return run.containers[asked["container"]]
        raise web.HTTPNotFound(text=f"no pod {asked['namespace']}/{asked['pod']} here")

    async def logs(request: web.Request) -> web.StreamResponse:
        return await _logs(request, container(request))

    async def execute(request: web.Request) -> web.StreamResponse:
        return await _execute(request, container(request))

    served = web.Application()
    served.add_routes(
        [
            web.get("/containerLogs/{namespace}/{pod}/{container}", logs),
            web.get("/exec/{namespace}/{pod}/{container}", execute),
        ]
    )
    return served


async def _logs(request: web.Request, container: Container) -> web.StreamResponse:
    query = request.query
    follow = query.get("follow") == "true"
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await response.prepare(request)
    since = datetime.min.replace(tzinfo=UTC)
    if "sinceSeconds" in query:
        since = datetime.now(UTC) - timedelta(seconds=float(query["sinceSeconds"]))
    elif "sinceTime" in query:
        since = datetime.fromisoformat(query["sinceTime"])
    skipped = 0
    if "tailLines" in query:
        skipped = max(0, len(container.said) - int(query["tailLines"]))
    async for when, line in container.listen(follow=follow):
        if skipped > 0:
            skipped -= 1
        elif when >= since:
            # Kubernetes writes nanoseconds.
            stamp = f"{when:%Y-%m-%dT%H:%M:%S.%f}000Z " if query.get("timestamps") == "true" else ""
            await response.write(f"{stamp}{line}\n".encode())
    await response.write_eof()
    return response


async def _execute(request: web.Request, container: Container) -> web.WebSocketResponse:
    """Answer the two commands that Airflow sends to its sidecar: read the value, then a signal through a shell."""
    socket = web.WebSocketResponse(protocols=("v5.channel.k8s.io", "v4.channel.k8s.io"))
    await socket.prepare(request)
    command = " ".join(request.query.getall("command"))
    code = 0
    if "return.json" in command:
        await _send(socket, STDOUT, container.xcom or EMPTY)
    elif command.endswith("sh"):
        await _wait_for_signal(socket)
        container.asked_to_stop.set()
    else:
        await _send(socket, STDERR, f"this kubelet cannot run {command!r}")
        code = 126
    await _send(socket, STATUS, json.dumps(_status(code)))
    await socket.close()
    return socket


async def _wait_for_signal(socket: web.WebSocketResponse) -> None:
    async for message in socket:
        data = message.data if message.type == WSMsgType.BINARY else message.data.encode()
        if b"kill" in data[1:]:  # the first byte is the channel
            return


async def _send(socket: web.WebSocketResponse, channel: int, text: str) -> None:
    await socket.send_bytes(bytes([channel]) + text.encode())


def _status(code: int) -> dict[str, object]:
    if not code:
        return {"metadata": {}, "status": "Success"}
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}
