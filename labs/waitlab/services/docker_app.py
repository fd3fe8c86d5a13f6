"""An app in a container: settings as variables of compose, its answers through the published port, its threads by exec.

The load engine reaches it inside the compose network, as `http://app:8080`; control calls, and people, come
through the port on the loopback that Docker chose. That port changes with every start, so it is asked for again.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from waitlab.controls import Settings
from waitlab.services import apps, docker_containers, threads
from waitlab.services.apps import AppSpec
from waitlab.services.supervised import SupervisedApp

if TYPE_CHECKING:
    from waitlab.services.docker_lab import DockerLab

SERVICES = {"webflux": "app", "mvc": "mvc", "plain": "plain"}
"""The apps that run in containers, with their names in compose.yaml."""
PORT = 8080
_DUMP = 'jcmd "$1" Thread.dump_to_file -overwrite -format=json "$2" >&2; cat "$2"; rm -f "$2"'


class DockerApp(SupervisedApp):
    """An app in a container of the lab's project. `service`: its name in compose.yaml; `needs`: what runs too."""

    service = ""

    ready_s = 60.0

    def __init__(self, spec: AppSpec, lab: DockerLab, token: str) -> None:
        super().__init__(spec, lab, token)
        self.needs = ("db", "load") if spec.queries else ("load",)
        self.service = self.service or SERVICES[spec.name]
        self._container = self._published = ""
        self._jvm = 0
        self.java: str | None = None
        self.cpu_limit = 0.0

    @property
    def control_url(self) -> str:
        """The port on the loopback that Docker published."""
        return self._published

    def how_it_ended(self) -> str:
        """How the container ended, for a sentence."""
        found = self._lab.project.container(self.service)
        if found is None:
            return "its container has gone, or the engine no longer answers"
        if found.running:
            return f"its supervisor, process {self._lab.link.pid}, ended"
        memory = ": it wanted more memory than its limit" if found.out_of_memory else ""
        return f"its container ended with exit code {found.exit_code}{memory}"

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
        port = found.ports.get(PORT)
        self._published = f"http://127.0.0.1:{port}" if port else ""
        self.url = f"http://{self.service}:{PORT}"

    def _listens(self) -> bool:
        return bool(self._published)

    def _facts(self) -> Mapping[str, Any]:
        where = {"container": self._container, "engine": self._lab.project.host}
        return {"url": self._published, "jvm": self._jvm, **where}

    def read_back(self) -> dict[str, Any]:
        """Reads the settings of a fresh start; `pid` is the container's on this machine, the JVM's own is inside."""
        found = super().read_back()
        self._jvm, self.java = int(found["pid"]), str(found["java"])
        self.pid = docker_containers.look(self._lab.project.host, self._container).pid
        return found


def dump(host: str, container: str, jvm: int, name: str) -> list[threads.ThreadInfo]:
    """Every thread of the JVM with that number in a container."""
    file = f"/tmp/threads-{secrets.token_hex(4)}.json"
    command = ["sh", "-c", _DUMP, "sh", str(jvm), file]
    return threads.parse(docker_containers.run_in(host, container, command, name))
