"""Which runtime serves the lab: Docker, embedded, or recorded runs; chosen here, and said in a sentence."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

from waitlab.controls import nearest
from waitlab.errors import BuildError, ControlError, RecordedOnly, ServiceError, quoted
from waitlab.services import apps, java, postgres_binaries
from waitlab.services.app import app_files
from waitlab.services.lab import Lab

RUNTIMES = ("auto", "docker", "embedded", "recorded")


@dataclass(frozen=True, slots=True)
class Choice:
    """A runtime, and the sentence that says why it is this one."""

    name: str
    why: str


def choose_runtime(asked: str = "auto") -> Choice:
    """The runtime for what was asked; `auto` follows WAITLAB_RUNTIME, then takes what can run here."""
    asked = os.environ.get("WAITLAB_RUNTIME") or "auto" if asked == "auto" else asked
    if asked not in RUNTIMES:
        raise ControlError(f"There is no runtime named {quoted(asked)}.", tip=nearest(asked, RUNTIMES))
    if asked == "docker":
        return _docker_or_refusal()
    if asked != "auto":
        return Choice(asked, f"The {asked} runtime was asked for.")
    no_docker = docker_lacks()
    if not no_docker:
        return Choice("docker", "Docker: an engine answers, and the lab's images are here or can be had.")
    missing = embedded_lacks()
    if not missing:
        return Choice("embedded", f"Embedded servers on this machine, and not Docker: {no_docker}.")
    return Choice("recorded", f"Recorded runs only: {missing}, and Docker cannot serve: {no_docker}.")


def _docker_or_refusal() -> Choice:
    """Docker where it was asked for by name; ServiceError where it cannot serve."""
    lacking = docker_lacks()
    if lacking:
        tip = "`waitlab doctor`, or --runtime embedded"
        raise ServiceError("The lab cannot run in Docker.", found=f"{lacking}", tip=tip)
    return Choice("docker", "The docker runtime was asked for.")


def docker_lacks() -> str:
    """What keeps Docker from serving, as half a sentence, within three seconds; empty if nothing does."""
    from waitlab.services import docker_probe

    return docker_probe.lacks()


def embedded_lacks() -> str:
    """What keeps the embedded runtime from running here, as half a sentence; empty if nothing does."""
    try:
        java.java_home()
    except BuildError as lacking:
        return lacking.what.rstrip(".")
    if postgres_binaries.find_postgres() is None and platform.system() not in ("Linux", "Darwin"):
        return f"there are no PostgreSQL programs for {platform.system()} on {platform.machine()}"
    return ""


def is_built() -> bool:
    """Whether every app is built and can be started."""
    return all(app_files(spec)[0].is_file() for spec in apps.APPS.values())


def open_lab(runtime: str = "auto", *, detached: bool = False) -> Lab:
    """A lab in the chosen runtime; its servers end with this process, or with `down` if detached."""
    choice = choose_runtime(runtime)
    if choice.name == "recorded":
        raise RecordedOnly("No server runs in the recorded runtime.", found=choice.why, tip="--runtime embedded")
    if choice.name == "docker":
        from waitlab.services.docker_lab import DockerLab
        from waitlab.services.docker_probe import probe_engine

        return DockerLab(choice.why, probe_engine(), detached=detached)
    from waitlab.services.embedded import EmbeddedLab

    return EmbeddedLab(choice.why, detached=detached)
