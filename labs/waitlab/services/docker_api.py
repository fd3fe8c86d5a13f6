"""Questions to the Docker engine over its socket, with a deadline for the whole answer.

The engine's own library takes its time to load and waits for each byte anew; a socket that is open and silent,
or that drips, would hold up the choice of a runtime. So these few GETs are made by hand.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

_CONTEXT_S = 1.0
_SOCKETS = ("/var/run/docker.sock", "~/.docker/run/docker.sock")


class Refused(Exception):
    """The engine answered, and its answer was no; the text is its own."""


def address() -> str:
    """Where the engine listens: DOCKER_HOST, else what `docker context` says, else the usual socket."""
    named = os.environ.get("DOCKER_HOST") or _context()
    if named:
        return named
    places = [Path(os.path.expanduser(name)) for name in _SOCKETS]  # noqa: PTH111  (a user may have no home)
    return f"unix://{next((place for place in places if place.exists()), places[0])}"


def get(host: str, path: str, within_s: float) -> Any:
    """The engine's JSON answer to GET `path`; OSError where it cannot be had, TimeoutError after `within_s`."""
    head, _, body = _exchange(host, path, within_s).partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    try:
        answer = json.loads(body)
    except ValueError as garbled:
        raise ConnectionError("what answered is no Docker engine") from garbled
    if status != [b"200"]:
        raise Refused(str(answer.get("message", answer))[:200])
    return answer


def _exchange(host: str, path: str, within_s: float) -> bytes:
    """Everything that comes back for one request on a connection of its own."""
    end = time.monotonic() + within_s
    received: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(within_s)
        wire.connect(host.removeprefix("unix://"))
        wire.sendall(f"GET {path} HTTP/1.0\r\nHost: docker\r\n\r\n".encode())
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer within {within_s:g} s")
            wire.settimeout(left)
            part = wire.recv(65536)
            if not part:
                return b"".join(received)
            received.append(part)


def _context() -> str:
    """The address of the context that the reader has chosen for the docker command; "" where there is none."""
    config = Path(os.environ.get("DOCKER_CONFIG") or os.path.expanduser("~/.docker")) / "config.json"  # noqa: PTH111
    chosen = os.environ.get("DOCKER_CONTEXT") or _current(config)
    if chosen in ("", "default"):
        return ""
    asked = ["docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}", chosen]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=_CONTEXT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""


def _current(config: Path) -> str:
    try:
        return str(json.loads(config.read_text(encoding="utf-8")).get("currentContext", ""))
    except (OSError, ValueError, AttributeError):
        return ""
