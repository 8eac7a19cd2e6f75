"""`place` over HTTP: an open loop of requests at a fixed rate, and how long each took from when it was due."""

import asyncio
import json
import os
import time

import pytest

from tests.service.running import running

RATE, SECONDS, CONNECTIONS = 200, 20, 32
REQUIREMENTS = ("gpu:1", "gpu:0.5", "gpu:2 >=16GB", "gpu:8 >=80GB fabric")


async def one(reader, writer, request):
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(
        next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")).split(b":")[1]
    )
    await reader.readexactly(length)
    return int(head[9:12])


async def load(port, token, rate, seconds):
    """Latencies in milliseconds, from when a request was due, and the statuses."""
    bodies = [json.dumps({"requirement": requirement}).encode() for requirement in REQUIREMENTS]
    head = f"POST /v1/place HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
    head += "Content-Type: application/json\r\n"
    requests = [f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in bodies]
    free = asyncio.Queue()
    for _ in range(CONNECTIONS):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    latencies, statuses = [], set()

    async def due(number, begin):
        connection = await free.get()
        statuses.add(await one(*connection, requests[number % len(requests)]))
        latencies.append((time.perf_counter() - begin) * 1000)
        free.put_nowait(connection)

    start, tasks = time.perf_counter(), []
    for number in range(round(rate * seconds)):
        begin = start + number / rate
        await asyncio.sleep(max(0, begin - time.perf_counter()))
        tasks.append(asyncio.create_task(due(number, begin)))
    await asyncio.gather(*tasks)
    while not free.empty():
        free.get_nowait()[1].close()
    return sorted(latencies), statuses


@pytest.mark.timeout(300)
def test_place_at_200_requests_a_second(benchmark, test_data, tmp_path):
    fleet = str(test_data("openb/openb_node_list_gpu_node.csv"))
    with running(tmp_path, fleet=fleet) as service:
        asyncio.run(load(service.port, service.tokens["read"], RATE, 2))  # compiles, and fills caches
        call = (service.port, service.tokens["read"], RATE, SECONDS)
        latencies, statuses = benchmark.pedantic(lambda: asyncio.run(load(*call)), rounds=1)
    p50, p99 = (latencies[round(len(latencies) * part)] for part in (0.5, 0.99))
    shown = f"p50 {p50:.2f} ms, p99 {p99:.2f} ms, worst {latencies[-1]:.2f} ms"
    busy = f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    benchmark.extra_info["place over HTTP"] = shown
    print(f"\n{len(latencies)} requests at {RATE} a second, 1,213 nodes: {shown}; {busy}")  # noqa: T201 - a figure
    assert statuses == {200}
