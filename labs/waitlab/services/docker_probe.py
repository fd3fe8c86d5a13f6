"""Whether Docker can be used here, and if not, why: told in a sentence, within seconds, whatever the engine does.

probe_engine()      the engine: ready, absent, stopped, silent, no permission, API too old, elsewhere, or failed
probe_command()     the docker command and its compose plugin
lacks()             what keeps the lab from Docker, as half a sentence; "" where nothing does
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from waitlab.services import docker_api

WITHIN_S = 3.0
"""How long all questions together may take."""
ANSWER_S = 2.0
"""How long the engine may take of that; a socket can be open and silent for ever."""
LOWEST_API = (1, 41)
"""Docker 20.10."""
LOWEST_COMPOSE = (2, 20)


@dataclass(frozen=True, slots=True)
class DockerFacts:
    """What was found of the engine; `cpus` and `memory_mb` are those that its containers can have."""

    engine: str
    detail: str = ""
    host: str = ""
    api: str | None = None
    version: str | None = None
    cpus: int = 0
    memory_mb: int = 0
    os: str = ""
    images: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:
        """Whether it answers, in a version that we speak."""
        return self.engine == "ready"

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with those images only that the lab would run now."""
        from waitlab.services.docker_images import runnable

        return {**asdict(self), "images": runnable(self.images)}


def probe_engine(within_s: float = ANSWER_S) -> DockerFacts:
    """Asks the engine for its version, its size and its images."""
    host = docker_api.address()
    if not host.startswith("unix://"):
        return DockerFacts(
            "elsewhere", f"the engine at {host} is not this machine's, so its ports are not either", host
        )
    try:
        return _ask(host, time.monotonic() + within_s)
    except (OSError, docker_api.Refused, KeyError, TypeError, ValueError) as problem:
        return explain(problem, host)


def _ask(host: str, end: float) -> DockerFacts:
    from waitlab.services.docker_images import ours

    told = docker_api.get(host, "/version", end - time.monotonic())
    api, version = str(told["ApiVersion"]), str(told["Version"])
    if _number(api) < LOWEST_API:
        detail = f"the engine {version} speaks API {api}, and the lab needs {LOWEST_API[0]}.{LOWEST_API[1]} or newer"
        return DockerFacts("API too old", detail, host, api, version)
    size = docker_api.get(host, "/info", max(0.1, end - time.monotonic()))
    images = docker_api.get(host, "/images/json", max(0.1, end - time.monotonic()))
    tags = tuple(sorted(tag for image in images for tag in image.get("RepoTags") or () if ours(tag)))
    system = f"{size.get('OperatingSystem', '')} {size.get('KernelVersion', '')}".strip()
    return DockerFacts("ready", "", host, api, version, int(size["NCPU"]), int(size["MemTotal"]) // 2**20, system, tags)


def probe_command(within_s: float = ANSWER_S) -> tuple[str | None, str | None]:
    """Path of the `docker` command and version of its compose plugin; None for what is missing."""
    command = shutil.which("docker")
    if command is None:
        return None, None
    said = _said([command, "compose", "version", "--short"], within_s)
    return command, said if said.lstrip("v")[:1].isdigit() else None


def lacks(within_s: float = WITHIN_S) -> str:
    """What keeps the lab from running in Docker, as half a sentence; "" where nothing does."""
    from waitlab.services.docker_images import cannot_be_had

    end = time.monotonic() + within_s
    found = probe_engine(min(ANSWER_S, within_s))
    if not found.ready:
        return found.detail
    with ThreadPoolExecutor(2) as pool:
        left = max(0.1, min(ANSWER_S, end - time.monotonic()))
        command, refused = pool.submit(probe_command, left), pool.submit(client_refused, left)
    if command.result()[0] is None:
        return "the docker command is not installed"
    if command.result()[1] is None:
        return "the docker command has no compose plugin"
    if _number(command.result()[1]) < LOWEST_COMPOSE:
        return f"the compose plugin is {command.result()[1]}, and the lab needs 2.20 or newer"
    return refused.result() or cannot_be_had(found, end - time.monotonic())


def client_refused(within_s: float) -> str:
    """Why engine and command do not understand each other, as the command says it; "" where they do."""
    command = shutil.which("docker")
    said = _said([command, "version", "--format", "{{.Server.APIVersion}}"], within_s) if command else ""
    return "" if said[:1].isdigit() or not said else f"the docker command says: {said.splitlines()[-1][:160]}"


def silent(host: str = "") -> DockerFacts:
    """For an engine that had not answered when the time was up."""
    host = host or docker_api.address()
    return DockerFacts("silent", f"{host} is open, but nothing answers in time", host)


def explain(problem: BaseException, host: str) -> DockerFacts:
    """The state of an engine that could not be asked."""
    if isinstance(problem, TimeoutError):
        return silent(host)
    if isinstance(problem, PermissionError):
        return DockerFacts("no permission", f"this user may not open {host}", host)
    if isinstance(problem, FileNotFoundError):
        return DockerFacts("absent", f"no engine listens at {host}", host)
    if isinstance(problem, ConnectionRefusedError):
        return DockerFacts("stopped", f"{host} is there, but no engine is behind it", host)
    if isinstance(problem, docker_api.Refused):
        return DockerFacts("failed", f"the engine refused: {problem}", host)
    return DockerFacts("failed", f"{host} could not be asked: {str(problem)[:120] or type(problem).__name__}", host)


def _said(command: list[str], within_s: float) -> str:
    """What a command printed; its complaint where it failed, "" where it took too long."""
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=within_s, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (told.stdout if told.returncode == 0 else told.stderr).strip()


def _number(version: str | None) -> tuple[int, ...]:
    """The first two numbers of a version."""
    return tuple(int(part) for part in re.findall(r"\d+", version or "")[:2])
