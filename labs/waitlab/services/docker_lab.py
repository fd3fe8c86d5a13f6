"""The Docker runtime: the services of compose.yaml as one project a lab, seen through the same seam as the others.

    DockerLab       one supervisor, one compose project (docker_project.py), the apps that were asked for
    DockerApp       one app in its container (docker_app.py)

Database, load container and app start at the same time: the app's pools connect when they are first asked. All
load comes from the `load` container, where the engine is started by exec, so that a run begins at once.
"""

from __future__ import annotations

import atexit
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from waitlab.controls import Value
from waitlab.errors import ServiceDied, ServiceError, ServiceTimeout
from waitlab.services import apps, credentials, docker_containers, machine, state
from waitlab.services.app import App
from waitlab.services.docker_app import DockerApp
from waitlab.services.docker_cpu import CPU, CpuApp
from waitlab.services.docker_leftovers import remove_leftovers
from waitlab.services.docker_probe import DockerFacts
from waitlab.services.docker_project import Project
from waitlab.services.folders import Say
from waitlab.services.lab import Lab
from waitlab.services.link import Link

DB, LOAD = "db", "load"
DB_READY_S = 30.0
ENGINE = ("python3", "-m", "engine")


class DockerLab(Lab):
    """The servers of one owner in containers; nothing of them outlives it, unless it is detached."""

    runtime = "docker"

    def __init__(self, why: str, engine: DockerFacts, *, detached: bool = False, say: Say | None = None) -> None:
        self.engine = engine
        self.detached = detached
        self._apps: dict[str, DockerApp] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._owner = os.getpid()
        self._load = self._postgres = ""
        state.tidy()
        remove_leftovers(engine.host)
        self._say = say
        self._open()
        super().__init__(why, self.folder.name)
        atexit.register(self.close)

    def app(self, name: str, **settings: object) -> App:
        """The named app, running with these settings: as it runs, changed live, or started afresh."""
        spec, kind = (CPU, CpuApp) if name == CPU.name else (apps.spec_for(name), DockerApp)
        with self._lock:
            known = self._apps.get(name)
            wanted = dict(known.asked) if known and known.asked and not settings else spec.settle(settings)
            self._check_usable()
            app = self._apps.setdefault(name, kind(spec, self, self._token))
            self._bring(app, wanted)
            return app

    def running(self) -> dict[str, App]:
        """The apps that run now, by name."""
        return {name: app for name, app in self._apps.items() if app.running()}

    def machine(self) -> dict[str, Any]:
        """What the containers run on."""
        java = next((app.java for app in self._apps.values() if app.java), None)
        size = {"cpus": self.engine.cpus, "memory_mb": self.engine.memory_mb, "os": f"Docker on {self.engine.os}"}
        return {**machine.hardware(), **size, "java": java, "postgres": self._postgres or None}

    def close(self) -> None:
        """Stops everything; returns when nothing is left. A detached lab is only let go of."""
        if self._closed or os.getpid() != self._owner:
            return
        self._closed = True
        atexit.unregister(self.close)
        if self.detached and self.running():
            self.link.leave()
            return
        self.link.close()
        if not self.link.gone() or self.folder.exists():
            state.tidy()
            remove_leftovers(self.engine.host)

    def _load_engine(self) -> list[str] | None:
        """The engine in the load container, which is started if it is not there."""
        if not self._load_runs():
            self.project.up([LOAD], {})
            self._find_load()
        return ["docker", "--host", self.engine.host, "exec", "--interactive", self._load, *ENGINE]

    def _load_runs(self) -> bool:
        try:
            return bool(self._load) and docker_containers.look(self.engine.host, self._load).running
        except Exception:
            return False

    def _open(self) -> None:
        """Starts a supervisor on a folder of its own, with the guard of its containers."""
        self.folder = state.new_folder()
        self._token = _write_secrets(self.folder / "secrets" / "containers")
        self.link = Link(self.folder)
        self.link.ask("note", facts={"runtime": self.runtime, "owner": self._owner})
        self.project = Project(self.link, self.folder, self.engine, self._say)
        self.project.guard()

    def _check_usable(self) -> None:
        """A closed lab stays closed; one whose supervisor was killed opens again."""
        if self._closed:
            raise ServiceError("This lab is closed.", tip="start a new one: run the cell that starts it again.")
        if not self.link.alive:
            self.link.close()
            self.link.gone()
            state.tidy()
            remove_leftovers(self.engine.host)
            self._apps.clear()
            self._open()
            self.lab_id = self.folder.name

    def _bring(self, app: DockerApp, wanted: dict[str, Value]) -> None:
        """Makes the app run with these settings, by the gentlest way that leads there."""
        changed = {name: value for name, value in wanted.items() if app.asked.get(name) != value}
        if not app.running() or not all(apps.is_live(app.spec, name) for name in changed):
            self._start(app, wanted)
            return
        if DB in app.needs and not self._db_runs():
            self.project.up([DB], {})
            self._follow_db()
            app.until_pools_recover()
        if changed:
            app.change(**changed)

    def _start(self, app: DockerApp, wanted: dict[str, Value]) -> None:
        """Starts the app, with the database and the load container where they do not run yet."""
        app.asked = {}
        self.link.stop(app.name)
        runs = {DB: self._db_runs, LOAD: self._load_runs}
        others = [name for name in app.needs if not runs[name]()]
        self.project.up([app.service, *others], app.variables(wanted))
        with ThreadPoolExecutor(1) as pool:
            try:
                app.launched(wanted)
                started = pool.submit(self._others_started, others)
                app.until_ready(lambda: _raise_if_failed(started))
                started.result()
            except BaseException:
                if self.link.alive:
                    self.link.stop(app.name)
                app.asked = {}
                raise
        if self.detached:
            self.link.ask("note", facts={"detached": True})

    def _others_started(self, names: list[str]) -> None:
        """Finds the load container, and waits for the database, where they have just been started."""
        if LOAD in names:
            self._find_load()
        if DB in names:
            self._follow_db()

    def _find_load(self) -> None:
        found = self.project.container(LOAD)
        self._load = found.id if found else ""

    def _db_runs(self) -> bool:
        child = self.link.child(DB)
        return child is not None and child.running

    def _follow_db(self) -> None:
        """Waits until the database answers a query over TCP; notices death."""
        found = self.project.follow(DB, DB)
        self.link.ask("note", name=DB, facts={"url": f"{DB}:5432 inside the network", "container": found.id})
        self._postgres = _until_answers(self.engine.host, found.id, self._db_runs, self.link, self.folder)


def _until_answers(host: str, container: str, runs: Any, link: Link, folder: Path) -> str:
    """The version that the database tells when it answers."""
    for _ in range(int(DB_READY_S / 0.1)):
        try:
            return docker_containers.run_in(host, container, ["/healthy"], DB).split()[0]
        except ServiceError:
            if not runs():
                words = "; ".join(state.tail(folder / "logs" / f"{DB}.log", 5)) or "an empty log"
                raise ServiceDied(
                    "PostgreSQL ended before it answered a query.", found=words, tip="run the cell again."
                ) from None
            link.wait(0.1)
    raise ServiceTimeout(
        f"PostgreSQL did not answer a query within {DB_READY_S:g} s.",
        found="; ".join(state.tail(folder / "logs" / f"{DB}.log", 3)) or "an empty log",
        tip="look at the machine's load, then run the cell again.",
    )


def _write_secrets(folder: Path) -> str:
    """Writes the secrets that containers read; returns the token.

    A container's user is not ours, so the files are open; the lab's folder around them is closed to others.
    """
    folder.mkdir()
    folder.chmod(0o755)
    token = credentials.new_token()
    for name, value in {"token": token, "db_password": credentials.new_token()}.items():
        file = folder / name
        file.write_text(value, encoding="ascii")
        file.chmod(0o644)
    return token


def _raise_if_failed(started: Future[None]) -> None:
    if started.done():
        started.result()
