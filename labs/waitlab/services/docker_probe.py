"""Whether Docker can be used here, and if not, why: told apart in words, whatever the engine does."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ANSWER_S = 2.5
"""How long an engine may take to answer; a socket can be open and silent for ever."""

IMAGES = ("postgres:17", "eclipse-temurin:25-jdk", "python:3.13-slim")
_SOCKETS = ("/var/run/docker.sock", "~/.docker/run/docker.sock")


@dataclass
class DockerFacts:
    """What was found. `engine`: ready, absent, stopped, silent, no permission, API too old, or failed."""

    engine: str
    detail: str = ""
    command: str | None = None
    compose: str | None = None
    api: str | None = None
    version: str | None = None
    images: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def probe_engine() -> DockerFacts:
    """Asks the engine, which may take up to ANSWER_S for each of three answers."""
    address, file = _address()
    if file is not None and not file.exists():
        return DockerFacts("absent", f"no engine listens at {file}")
    import docker

    client = None
    try:
        client = docker.DockerClient(base_url=address, version="auto", timeout=ANSWER_S)
        told = client.version()
        found = sorted(tag for image in client.images.list() for tag in image.tags)
        wanted = tuple(tag for tag in found if tag in IMAGES)
        return DockerFacts("ready", "", api=told.get("ApiVersion"), version=told.get("Version"), images=wanted)
    except Exception as problem:
        return explain(problem, address)
    finally:
        if client is not None:
            client.close()


def probe_command() -> tuple[str | None, str | None]:
    """Path of the `docker` command and version of its compose plugin; None for what is missing."""
    command = shutil.which("docker")
    if command is None:
        return None, None
    try:
        said = subprocess.run(
            [command, "compose", "version", "--short"],
            capture_output=True,
            text=True,
            timeout=ANSWER_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return command, None
    return command, said.stdout.strip() or None if said.returncode == 0 else None


def silent() -> DockerFacts:
    """For an engine that had not answered when the time was up."""
    return DockerFacts("silent", f"{_address()[0]} is open, but nothing answers within {ANSWER_S:g} s")


def explain(problem: BaseException, address: str) -> DockerFacts:
    """Finds the reason in a chain of exceptions, and names it."""
    chain = list(_chain(problem))
    text = " ".join(str(each) for each in chain)
    if any(isinstance(each, PermissionError) for each in chain) or "Permission denied" in text:
        return DockerFacts("no permission", f"this user may not open {address}")
    if any(isinstance(each, TimeoutError) for each in chain) or "timed out" in text:
        return silent()
    if any(sign in text for sign in ("client version", "too old", "minimum supported API")):
        return DockerFacts("API too old", "client and engine do not speak the same version of the API")
    if any(isinstance(each, FileNotFoundError) for each in chain):
        return DockerFacts("absent", f"no engine listens at {address}")
    if any(isinstance(each, ConnectionRefusedError) for each in chain):
        return DockerFacts("stopped", f"{address} is there, but no engine is behind it")
    return DockerFacts("failed", f"{type(problem).__name__}: {str(problem)[:120]}")


def _address() -> tuple[str, Path | None]:
    """Where the engine should listen, and its socket file if it is one."""
    named = os.environ.get("DOCKER_HOST", "")
    if named:
        return named, Path(urlsplit(named).path) if named.startswith("unix:") else None
    sockets = [Path(name).expanduser() for name in _SOCKETS if not name.startswith("~") or os.environ.get("HOME")]
    file = next((socket for socket in sockets if socket.exists()), sockets[0])
    return f"unix://{file}", file


def _chain(problem: BaseException | None) -> list[BaseException]:
    """An exception with its causes, and the exceptions that it carries as arguments."""
    found: list[BaseException] = []
    waiting = [problem]
    while waiting:
        each = waiting.pop()
        if each is None or each in found:
            continue
        found.append(each)
        waiting += [each.__cause__, each.__context__, getattr(each, "reason", None)]
        waiting += [argument for argument in each.args if isinstance(argument, BaseException)]
    return found
