"""Containers of a lab, asked through the engine's own library: where they listen, how they ended, what runs in them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from waitlab.errors import ServiceError
from waitlab.services.docker_removal import LABEL

CALL_S = 30


@dataclass(frozen=True, slots=True)
class Container:
    """A container as the engine tells it.

    `pid` is its first process on this machine; `ports` holds the published ports by those inside.
    """

    id: str
    running: bool
    pid: int
    ports: dict[int, int]
    exit_code: int
    out_of_memory: bool
    cpu_limit: float


@functools.cache
def client(host: str) -> Any:
    """The engine's client; one for each engine."""
    import docker

    return docker.DockerClient(base_url=host, version="auto", timeout=CALL_S)


def find(host: str, lab_id: str, service: str) -> Container | None:
    """The container of a lab's service; None if there is none, or the engine does not answer."""
    wanted = {"label": [f"{LABEL}={lab_id}", f"com.docker.compose.service={service}"]}
    try:
        listed = client(host).api.containers(all=True, filters=wanted)
        return look(host, listed[0]["Id"]) if listed else None
    except Exception:
        return None


def look(host: str, container_id: str) -> Container:
    """A container as it is now."""
    told = client(host).api.inspect_container(container_id)
    state, ports = told["State"], told["NetworkSettings"]["Ports"] or {}
    published = {int(inside.split("/")[0]): int(bound[0]["HostPort"]) for inside, bound in ports.items() if bound}
    return Container(
        id=told["Id"],
        running=bool(state["Running"]),
        pid=int(state["Pid"]),
        ports=published,
        exit_code=int(state["ExitCode"]),
        out_of_memory=bool(state["OOMKilled"]),
        cpu_limit=int(told["HostConfig"]["NanoCpus"]) / 1e9,
    )


def run_in(host: str, container_id: str, command: list[str], within: str) -> str:
    """What a command prints that is run in a container as the container's own user; ServiceError if it fails."""
    try:
        code, (said, complaint) = client(host).containers.get(container_id).exec_run(command, demux=True)
    except Exception as problem:
        raise ServiceError(f"{within} could not be asked.", found=str(problem)[:200], tip="`docker ps`") from problem
    if code != 0:
        words = ((complaint or b"") + (said or b"")).decode(errors="replace").strip()
        raise ServiceError(
            f"{within} did not do as asked.", found=f"exit code {code}: {words[-200:]}", tip="`docker ps`"
        )
    return (said or b"").decode(errors="replace")
