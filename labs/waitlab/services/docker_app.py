"""An app in a container: settings as variables of compose, its answers through the published port, its threads by exec.

The load engine reaches it inside the compose network, as `http://app:8080`; control calls, and people, come
through the port on the loopback that Docker chose. That port changes with every start, so it is asked for again.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from waitlab.controls import Settings
from waitlab.errors import ServiceTimeout
from waitlab.services import apps, docker_containers, state, threads
from waitlab.services.app import App
from waitlab.services.apps import AppSpec
from waitlab.services.link import Child

if TYPE_CHECKING:
    from waitlab.services.docker_lab import DockerLab

PORT = 8080
READY_S = 60.0
POLL_S = 0.03
POOLS_S = 10.0
UNCHECKED_S = 0.6
_DUMP = 'jcmd "$1" Thread.dump_to_file -overwrite -format=json "$2" >&2; cat "$2"; rm -f "$2"'


class DockerApp(App):
    """An app in a container of the lab's project. `service`: its name in compose.yaml; `needs`: what must run too."""

    service = "app"
    needs: tuple[str, ...] = ("db", "load")

    def __init__(self, spec: AppSpec, lab: DockerLab, token: str) -> None:
        super().__init__(spec, token)
        self._lab = lab
        self._container = self._published = ""
        self._jvm = 0
        self.java: str | None = None
        self.cpu_limit = 0.0

    @property
    def control_url(self) -> str:
        """The port on the loopback that Docker published."""
        return self._published

    @property
    def _child(self) -> Child | None:
        """The process that follows the container's log: it ends when the container does."""
        return self._lab.link.child(self.name)

    def running(self) -> bool:
        """Whether its container runs and is being followed."""
        return self._lab.link.alive and self._child is not None and self._child.running

    def died_s(self) -> float | None:
        """When the container, or the supervisor, ended unasked (monotonic seconds)."""
        child = self._child
        if child is None or child.wanted:
            return None
        return self._lab.link.ended_s if child.running else child.ended_s

    def how_it_ended(self) -> str:
        """How the container ended, for a sentence."""
        found = self._lab.project.container(self.service)
        if found is None:
            return "its container has gone, or the engine no longer answers"
        if found.running:
            return f"its supervisor, process {self._lab.link.pid}, ended"
        memory = ": it wanted more memory than its limit" if found.out_of_memory else ""
        return f"its container ended with exit code {found.exit_code}{memory}"

    def logs(self, lines: int = 50) -> list[str]:
        """The last lines of its log."""
        return state.tail(self._lab.folder / "logs" / f"{self.name}.log", lines)

    def settings(self) -> dict[str, Any]:
        """Every limit in force; with `container_cpus` where the container got fewer CPUs than the JVM counts."""
        found = super().settings()
        capped = self.cpu_limit < found["available_processors"]
        return found | ({"container_cpus": self.cpu_limit} if capped else {})

    def threads(self) -> list[threads.ThreadInfo]:
        """Every thread of the JVM now, virtual ones too; asked as the JVM's own user."""
        self.check_alive()
        return dump(self._lab.project.host, self._container, self._jvm, self.name)

    def variables(self, settings: Settings) -> dict[str, str]:
        """What compose.yaml is told for these settings; a container gets no more CPUs than there are."""
        asked = int(settings["cpus"])
        return {
            "CPUS": str(asked),
            "APP_CPUS": str(min(asked, self._lab.engine.cpus)),
            "JAVA_OPTS": " ".join(apps.jvm_flags(self.spec, settings)),
            **apps.environment(self.spec, settings),
        }

    def launched(self, settings: Settings) -> None:
        """Takes over a container that has just been started with these settings."""
        self.asked = dict(settings)
        self.restarts += 1
        found = self._lab.project.follow(self.service, self.name)
        self._container, self.cpu_limit = found.id, found.cpu_limit
        self._published = f"http://127.0.0.1:{found.port}" if found.port else ""
        self.url = f"http://{self.service}:{PORT}"

    def until_ready(self, check: Callable[[], None]) -> None:
        """Waits for a 200 through the published port; notices death, and whatever `check` raises."""
        end = time.monotonic() + READY_S
        while time.monotonic() < end:
            self.check_alive()
            check()
            if self._published and self.answers(self.spec.ready):
                self.read_back()
                return
            self._lab.link.wait(POLL_S)
        raise ServiceTimeout(
            f"{self.name} did not answer {self.spec.ready} with 200 within {READY_S:g} s.",
            found="; ".join(self.logs(3)) or "an empty log",
            tip="look at the machine's load, then run the cell again.",
        )

    def until_pools_recover(self) -> None:
        """Waits until the app's pools have replaced the connections that a database took with it."""
        end = time.monotonic() + POOLS_S
        while time.monotonic() < end:
            self._lab.link.wait(UNCHECKED_S)
            if all(map(self.answers, self.spec.queries)):
                return
        raise ServiceTimeout(
            f"The database is back, but {self.name} did not reach it within {POOLS_S:g} s.",
            found="; ".join(self.logs(3)) or "an empty log",
            tip="stop and start the server.",
        )

    def read_back(self) -> dict[str, Any]:
        """Reads the settings of a fresh start; `pid` is the container's on this machine, the JVM's own is inside."""
        found = super().read_back()
        self._jvm, self.java = int(found["pid"]), str(found["java"])
        self.pid = docker_containers.look(self._lab.project.host, self._container).pid
        facts: Mapping[str, Any] = {
            "url": self._published,
            "container": self._container,
            "jvm": self._jvm,
            "engine": self._lab.project.host,
        }
        self._lab.link.ask("note", name=self.name, facts=facts)
        return found


def dump(host: str, container: str, jvm: int, name: str) -> list[threads.ThreadInfo]:
    """Every thread of the JVM with that number in a container."""
    file = f"/tmp/threads-{secrets.token_hex(4)}.json"
    command = ["sh", "-c", _DUMP, "sh", str(jvm), file]
    return threads.parse(docker_containers.run_in(host, container, command, name))
