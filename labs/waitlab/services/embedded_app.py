"""An app on a JVM of this machine: launched, awaited, watched."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waitlab.controls import Settings
from waitlab.services import apps, credentials, java, machine, processes, threads
from waitlab.services.apps import AppSpec
from waitlab.services.caches import cache_for
from waitlab.services.postgres import HOST, NAME, USER, Postgres
from waitlab.services.supervised import SupervisedApp

if TYPE_CHECKING:
    from waitlab.services.embedded import EmbeddedLab


class EmbeddedApp(SupervisedApp):
    """An app on a JVM of this machine."""

    mend = "`waitlab build --force`, which makes the servers anew, then run the cell again."

    def __init__(self, spec: AppSpec, lab: EmbeddedLab) -> None:
        super().__init__(spec, lab, credentials.new_token())
        self._control_port = 0

    @property
    def control_url(self) -> str:
        """The port whose requests get a virtual thread each, where there is one: it answers with all workers busy."""
        return f"http://{HOST}:{self._control_port}" if self._control_port else self.url

    def read_back(self) -> dict[str, Any]:
        """Reads the settings of a fresh start, and from then on asks on the port for control calls."""
        found = super().read_back()
        self._control_port = int(found.get("control_port", 0))
        return found

    def how_it_ended(self) -> str:
        """The exit code or the signal, for a sentence."""
        child = self._child
        if child is None or child.code is None:
            return f"its supervisor, process {self._lab.link.pid}, ended"
        return f"process {child.pid} ended " + (
            f"by signal {-child.code}" if child.code < 0 else f"with exit code {child.code}"
        )

    def frozen(self) -> bool:
        """Whether the JVM is stopped by a signal."""
        return processes.frozen(self.pid)

    def threads(self) -> list[threads.ThreadInfo]:
        """Every thread of the JVM now, virtual ones too."""
        self.check_alive()
        return threads.dump(java.jcmd(), self.pid, self._lab.folder / "work")

    def launch(self, settings: Settings) -> None:
        """Starts the JVM with these settings; does not wait for it."""
        lab = self._lab
        self._port_file.unlink(missing_ok=True)
        self.asked, self.url, self._control_port = dict(settings), "", 0
        self.restarts += 1
        lab.link.start(
            self.name,
            argv=_command(self.spec, settings, lab.folder / "work"),
            env=self._environment(settings),
            cwd=str(self.spec.folder),
            log=str(lab.folder / "logs" / f"{self.name}.log"),
            cpus=_some_cpus(int(settings["cpus"])),
        )

    def _listens(self) -> bool:
        self.url = self._reported_url()
        return bool(self.url)

    def _facts(self) -> Mapping[str, Any]:
        return {"url": self.url, "host": HOST}

    @property
    def _port_file(self) -> Path:
        return self._lab.folder / "work" / f"{self.name}.port"

    def _reported_url(self) -> str:
        try:
            return f"http://{HOST}:{int(self._port_file.read_text(encoding='ascii'))}"
        except (OSError, ValueError):
            return ""

    def _environment(self, settings: Settings) -> dict[str, str]:
        """What the JVM sees: nothing of the reader's environment that a server would take for a setting."""
        secrets = {"lab.token": self._token, **where_is(self._lab.db)}
        file = self._lab.folder / "secrets" / f"{self.name}.properties"
        return {
            **machine.plain_environment(),
            **apps.environment(self.spec, settings),
            "LAB_ADDRESS": HOST,
            "LAB_PORT": "0",
            "LAB_PORT_FILE": str(self._port_file),
            "SPRING_CONFIG_IMPORT": f"file:{credentials.write_properties(file, secrets)}",
        }


def where_is(db: Postgres) -> dict[str, str]:
    """The database's place and password, as the apps' properties name them."""
    who = {"name": NAME, "user": USER, "password": db.password}
    return {f"lab.db.{name}": value for name, value in {"host": HOST, "port": str(db.reserve()), **who}.items()}


def _command(spec: AppSpec, settings: Settings, work: Path) -> list[str]:
    """The command line of the JVM; no secret is in it."""
    cache = cache_for(spec, settings)
    cached = [f"-XX:AOTCache={cache}"] if apps.uses_cache(settings) and (spec.folder / cache).is_file() else []
    own = [f"-Djava.io.tmpdir={work}", f"-XX:ErrorFile={work / 'crash.log'}"]
    return [str(java.runtime_java()), *apps.jvm_flags(spec, settings), *own, *cached, "-jar", "app.jar"]


def _some_cpus(count: int) -> list[int] | None:
    """Which CPUs the server is kept on: some, where it is to have fewer than this machine has."""
    usable = machine.usable_cpus()
    pinned = count < len(usable) and hasattr(os, "sched_setaffinity")
    return sorted(random.sample(usable, count)) if pinned else None
