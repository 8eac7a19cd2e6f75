"""Running the service: on which address, and whether it may be there."""

import ipaddress
import socket
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

from hetero_ops.errors import ServiceUnusable
from hetero_ops.service.connection import BoundedConnection
from hetero_ops.service.token_file import Tokens

HOST = "127.0.0.1"
PORT = 8470
_KEEP_ALIVE_S = 30
_CLOSING_TIME_S = 10
_MAX_HEADER_BYTES = 16 * 1024
_BACKLOG = 1024


@dataclass(frozen=True, slots=True)
class Listening:
    """A socket that is bound, and where."""

    socket: socket.socket
    url: str


def is_local(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int, tokens: Tokens | None) -> Listening:
    """Binds an address; 0 takes any free port.

    Raises:
        ServiceUnusable: others could reach it without a token, or it cannot be bound.
    """
    if tokens is None and not is_local(host):
        what = f"others can reach {host}, and without tokens they could do everything"
        raise ServiceUnusable(f"{what}; give --tokens FILE, which hetero-ops serve token fills, or stay on {HOST}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        what = f"{host} port {port} cannot be used: {error.strerror or error}"
        raise ServiceUnusable(f"{what}; choose another with --host and --port") from None
    shown = f"[{host}]" if family == socket.AF_INET6 else host
    return Listening(bound, f"http://{shown}:{bound.getsockname()[1]}")


def serve(app: FastAPI, listening: Listening) -> None:
    """Answers until the process is told to end; requests that are open are answered first."""
    config = uvicorn.Config(
        app,
        http=BoundedConnection,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_CLOSING_TIME_S,
        h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
    )
    uvicorn.Server(config).run(sockets=[listening.socket])
