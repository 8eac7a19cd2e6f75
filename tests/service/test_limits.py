"""What is too large, too slow, too many, or on an address that others reach."""

import asyncio
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

from hetero_ops.errors import ServiceUnusable
from hetero_ops.service.connection import MOST_CONNECTIONS
from hetero_ops.service.recent import Recent
from hetero_ops.service.refusal import Refusal
from hetero_ops.service.server import is_local, listen
from hetero_ops.service.token_file import Tokens
from hetero_ops.service.work import Work
from tests.service.running import MIXED, ROOT, running

EVERY = "0.0.0.0"  # noqa: S104 - what it takes to be there
MIB = 1024 * 1024
SLOW = 15  # seconds; the limits are ten


def head(service, path="/v1/place", *more, scope="read", method="POST"):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {service.tokens[scope]}"]
    return "\r\n".join([*lines, "Content-Type: application/json", *more, "", ""]).encode()


async def send(service, *parts, pause=0.0, is_enough=False):
    """Sends parts one after the other; gives back what came, when the other side has closed, or at once."""
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port)

    async def write():
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(pause)
        except ConnectionError:
            pass

    writing, answer = asyncio.create_task(write()), b""
    try:
        while part := await reader.read(65_536):
            answer += part
            if is_enough:
                break
    except ConnectionError:
        pass
    finally:
        writing.cancel()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    return answer


def status(answer):
    return int(answer.split()[1]) if answer else 0


def test_a_body_that_says_it_is_too_large_is_refused_unread(service):
    answer = asyncio.run(send(service, head(service, "/v1/place", f"Content-Length: {MIB + 1}"), is_enough=True))
    assert status(answer) == 413


def test_a_body_that_does_not_say_its_length_is_refused_at_the_limit(service):
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    answer = asyncio.run(
        send(service, head(service, "/v1/place", "Transfer-Encoding: chunked"), *[chunk] * 200, is_enough=True)
    )
    assert status(answer) == 413


def test_who_may_not_sends_no_body(service):
    large = f"Content-Length: {60 * MIB}"
    answer = asyncio.run(send(service, head(service, "/v1/fleet", large, "Connection: close", method="PUT")))
    assert status(answer) == 403


@pytest.mark.parametrize(
    "bytes_",
    [
        b"\x00\xff\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /v1/fleet HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"GET /v1/fleet HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /v1/fleet HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 2_000_000 + b"\r\n\r\n",
        b"POST /v1/place HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # somebody speaks TLS
    ],
)
def test_what_is_no_request_is_refused_and_closed(service, bytes_):
    answer = asyncio.run(asyncio.wait_for(send(service, bytes_), SLOW))
    assert 400 <= status(answer) < 500 or not answer


def test_slow_clients_are_closed(service):
    drip = [bytes([byte]) for byte in head(service)]
    body = head(service, "/v1/place", "Content-Length: 50")
    slow = {
        "says nothing": [b""],
        "a header without an end": [b"GET /healthz HTTP/1.1\r\n"],
        "a byte of the header at a time": drip,
        "no body": [body],
        "a byte of the body at a time": [body, *[b" "] * 49],
        "a second request without an end": [head(service, "/healthz", method="GET"), *drip],
        "a body where none is asked for": [
            head(service, "/healthz", "Content-Length: 1000", method="GET"),
            *[b" "] * 999,
        ],
    }

    async def all_of_them():
        async def one(parts):
            begun = time.monotonic()
            answer = await send(service, *parts, pause=0.5)
            return time.monotonic() - begun, answer

        return dict(zip(slow, await asyncio.gather(*map(one, slow.values())), strict=True))

    answers = asyncio.run(asyncio.wait_for(all_of_them(), 4 * SLOW))
    for what, (seconds, answer) in answers.items():
        assert seconds < 2 * SLOW, what
        assert status(answer) in {0, 200, 408}, what
    assert status(answers["no body"][1]) == status(answers["a byte of the body at a time"][1]) == 408


def test_too_many_connections_are_told_so(tmp_path):
    async def many(service):
        opened = [await asyncio.open_connection("127.0.0.1", service.port) for _ in range(MOST_CONNECTIONS + 20)]
        last = await asyncio.wait_for(opened[-1][0].read(), SLOW)
        opened[0][1].write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        first = await asyncio.wait_for(opened[0][0].read(), SLOW)
        for _, writer in opened:
            writer.close()
        return first, last

    with running(tmp_path) as service:
        first, last = asyncio.run(many(service))
        assert (status(first), status(last)) == (200, 429)
        assert b"retry-after" in last


def test_calls_have_a_most_and_a_time():
    begun, go, undone = threading.Semaphore(0), threading.Event(), []

    def slow():
        begun.release()
        go.wait(10)
        return "made"

    async def all_of_it():
        work = Work(threads=2, most=3, limit_s=0.2)
        asked = [asyncio.create_task(work.do(slow, undo=undone.append)) for _ in range(4)]
        refused = [await asyncio.gather(task, return_exceptions=True) for task in asked]
        statuses = sorted(error.status_code for (error,) in refused)
        go.set()
        for _ in range(100):
            await asyncio.sleep(0.02)
            if len(undone) == 3:
                break
        assert await work.do(lambda: 5) == 5
        with pytest.raises(ZeroDivisionError):
            await work.do(lambda: 1 // 0)
        work.close()
        return statuses

    assert asyncio.run(all_of_it()) == [429, 503, 503, 503]
    assert undone == ["made"] * 3


def test_a_refusal_says_when_to_ask_again():
    async def ask():
        work = Work(threads=1, most=0, limit_s=1)
        await work.do(lambda: 1)

    with pytest.raises(Refusal) as caught:
        asyncio.run(ask())
    assert caught.value.headers == {"Retry-After": "1"}


def test_recent_decisions_take_so_many_bytes():
    recent = Recent(max_bytes=10)
    for name in "abc":
        recent.keep(name, "1234")
    assert [recent.find(name) for name in "abc"] == [None, "1234", "1234"]
    recent.keep("b", "1234")  # asked again, so it stays longer
    recent.keep("d", "1234")
    assert [recent.find(name) for name in "bcd"] == ["1234", None, "1234"]
    recent.keep("large", "1" * 11)
    assert recent.find("large") is None


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        *((host, True) for host in ("127.0.0.1", "127.8.8.8", "localhost", "::1")),
        *((host, False) for host in (EVERY, "::", "10.0.0.1", "my-host", "")),
    ],
)
def test_which_addresses_are_this_machines(host, is_ours):
    assert is_local(host) == is_ours


def test_others_need_tokens_to_be_there():
    for host in (EVERY, "::", ""):
        with pytest.raises(ServiceUnusable, match="--tokens"):
            listen(host, 0, None)
    with listen(EVERY, 0, Tokens(())).socket as bound:
        port = bound.getsockname()[1]
        with pytest.raises(ServiceUnusable, match="--port"):
            listen(EVERY, port, Tokens(()))


def test_a_public_address_without_tokens_ends_the_command():
    command = [sys.executable, "-P", "-m", "hetero_ops.cli", "serve", "--fleet", MIXED, "--host", EVERY]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 65
    assert "without tokens they could do everything" in done.stderr


def test_on_a_public_address_it_says_to_put_tls_in_front(tmp_path):
    with running(tmp_path, "--host", EVERY):
        assert "put TLS in front" in (tmp_path / "service.log").read_text()
