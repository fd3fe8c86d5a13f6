"""A lab's containers as one compose project: made, recreated, followed.

    Project.up()        `docker compose up` for some services, under the lab's supervisor
    Project.follow()    the log of a container, in the lab's folder; its end is the container's end
    Project.guard()     the process that removes everything when the lab ends

The compose command is the supervisor's child and not ours: an Interrupt does not reach it, and if the owner dies in
the middle of it, the guard removes what it has made.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from waitlab import paths
from waitlab.errors import ServiceError, ServiceTimeout
from waitlab.services import docker_containers, docker_images, state
from waitlab.services.docker_containers import Container
from waitlab.services.docker_probe import DockerFacts
from waitlab.services.docker_progress import Line
from waitlab.services.docker_removal import GUARD, MAKER, MAKING
from waitlab.services.folders import Say
from waitlab.services.link import Link

UP_S = 60.0
GUARD_GRACE_S = 25.0
_SCRIPT = Path(__file__).with_name("docker_guard.py")
_KEPT = ("PATH", "HOME", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")


class Project:
    """The containers of one lab. Images that are missing are built when they are first needed, and told to `say`."""

    def __init__(self, link: Link, folder: Path, engine: DockerFacts, say: Say | None = None) -> None:
        self.link = link
        self.folder = folder
        self.lab_id = folder.name
        self.engine = engine
        self.host = engine.host
        self._say = say
        self._images: dict[str, str] = {}
        self._ready: set[str] = set()
        self._environment = {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "DOCKER_HOST": self.host,
            "LAB_ID": self.lab_id,
            "LAB_FOLDER": str(folder),
            "SECRETS": str(folder / "secrets" / "containers"),
            "HEALTH_INTERVAL": "24h",
            "APP_WAITS_FOR_DB": "service_started",
        }

    @property
    def name(self) -> str:
        """The project's name, as `docker compose -p` takes it."""
        return f"waitlab-{self.lab_id}"

    def guard(self) -> None:
        """Starts the process that removes the containers when the lab ends."""
        python = [sys.executable, "-S", "-E", "-s", str(_SCRIPT)]
        self._start(GUARD, [*python, str(self.folder), self.lab_id], grace_s=GUARD_GRACE_S)
        self.link.ask("note", name=GUARD, facts={"url": f"removes the containers of {self.name}"})

    def up(self, services: list[str], variables: Mapping[str, str]) -> None:
        """Makes or remakes the containers of these services and starts them; ServiceError if that fails."""
        self._have_images(services)
        log = self._log(MAKER)
        log.unlink(missing_ok=True)
        command = ["docker", "compose", "--ansi", "never", "--progress", "plain", "-p", self.name]
        place = ["--project-directory", str(paths.ROOT), "-f", str(paths.ROOT / "compose.yaml")]
        up = ["up", "--detach", "--no-deps", "--no-build", "--pull", "never", "--timeout", "1", *services]
        making = self.folder / "work" / MAKING
        making.touch()
        self._start(MAKER, [*command, *place, *up], {**self._images, **variables})
        try:
            code = self._until_ended(MAKER, UP_S)
        except BaseException:
            self.link.stop(MAKER)
            raise
        if code != 0:
            raise _failed(services, state.tail(log, 4))
        making.unlink()

    def follow(self, service: str, name: str) -> Container:
        """Follows the container's log under `name`; returns the container."""
        self.link.stop(name)
        found = self.container(service)
        if found is None:
            raise ServiceError(
                f"The container of {name} has gone.", found="somebody else removed it", tip="run the cell again."
            )
        self._log(name).unlink(missing_ok=True)
        self._start(name, ["docker", "logs", "--follow", found.id])
        return found

    def container(self, service: str) -> Container | None:
        """The service's container as it is now; None if there is none."""
        return docker_containers.find(self.host, self.lab_id, service)

    def _have_images(self, services: list[str]) -> None:
        if self._ready.issuperset(services):
            return
        line = Line()
        try:
            self._images = docker_images.ensure(self.engine, services, self._say or line)
        finally:
            line.end()
        self._ready.update(services)

    def _log(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"

    def _start(self, name: str, argv: list[str], variables: Mapping[str, str] | None = None, **more: object) -> None:
        environment = {**self._environment, **(variables or {})}
        self.link.start(name, argv=argv, env=environment, cwd=str(self.folder), log=str(self._log(name)), **more)

    def _until_ended(self, name: str, within_s: float) -> int:
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            child = self.link.child(name)
            if child is not None and child.code is not None:
                return child.code
            self.link.wait(0.2)
        raise ServiceTimeout(
            f"Docker did not start the containers within {within_s:g} s.",
            found="; ".join(state.tail(self._log(name), 3)) or "no word from it",
            tip="look at the engine (`docker ps`), or use --runtime embedded.",
        )


def _failed(services: list[str], said: list[str]) -> ServiceError:
    return ServiceError(
        f"Docker could not start the containers of {', '.join(services)}.",
        found="; ".join(line.strip() for line in said[-2:]) or "no word from it",
        tip="look at the engine (`docker info`), or use --runtime embedded.",
    )
