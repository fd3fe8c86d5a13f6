"""The Docker runtime: the services of compose.yaml as one project a lab, seen through the same seam as the others.

    DockerLab       one supervisor, one compose project (docker_project.py), the apps that were asked for
    DockerApp       one app in its container (docker_app.py)

Database, load container and app start at the same time: the app's pools connect when they are first asked. All
load comes from the `load` container, where the engine is started by exec, so that a run begins at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from waitlab import paths
from waitlab.controls import Value
from waitlab.errors import ServiceDied, ServiceError, ServiceTimeout
from waitlab.services import apps, credentials, docker_containers, machine, mains, state
from waitlab.services.app import on_one_clock
from waitlab.services.apps import AppSpec
from waitlab.services.docker_app import SERVICES, DockerApp
from waitlab.services.docker_cpu import CPU, CpuApp
from waitlab.services.docker_leftovers import remove_leftovers
from waitlab.services.docker_probe import DockerFacts
from waitlab.services.docker_project import Project
from waitlab.services.folders import Say
from waitlab.services.link import Link
from waitlab.services.mains import Main
from waitlab.services.supervised import SupervisedLab

DB, LOAD = "db", "load"
DB_READY_S = 30.0
ENGINE = ("python3", "-m", "engine")
PROPERTIES = "/tmp/lab.properties"
"""What the start of an app writes for it: where the database is, and its password."""

ENDS_WITH_US = """exec 3<&0; "$@" </dev/null 3<&- & main=$!
{ cat <&3; kill -9 $main; } >/dev/null 2>&1 & watch=$!
exec 3<&-; wait $main; code=$?; kill $watch 2>/dev/null; exit $code"""
"""Runs the command until it ends, or until nobody holds our stdin any longer: even a JVM that only collects is gone."""

_CLOCKS = """import sys, time, urllib.request
print(time.monotonic())
print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())
print(time.monotonic())"""


class DockerLab(SupervisedLab):
    """The servers of one owner in containers; nothing of them outlives it, unless it is detached."""

    runtime = "docker"

    def __init__(self, why: str, engine: DockerFacts, *, detached: bool = False, say: Say | None = None) -> None:
        self.engine = engine
        self._say = say
        self._load = self._postgres = ""
        self._secrets = {name: credentials.new_token() for name in ("token", "db_password")}
        super().__init__(why, detached=detached)

    def machine(self) -> dict[str, Any]:
        """What the containers run on."""
        java = next((app.java for app in self._apps.values() if app.java), None)
        size = {"cpus": self.engine.cpus, "memory_mb": self.engine.memory_mb, "os": f"Docker on {self.engine.os}"}
        return {**machine.hardware(), **size, "java": java, "postgres": self._postgres or None}

    def _load_engine(self) -> list[str] | None:
        """The engine in the load container, which is started if it is not there."""
        if not self._load_runs():
            self.project.up([LOAD], {})
            self._find_load()
        return ["docker", "--host", self.engine.host, "exec", "--interactive", self._load, *ENGINE]

    def _main(self, name: str, options: Mapping[str, Value], heap_mb: int | None, *, database: bool) -> Main:
        """A main beside the bare server, in its container: it has the jar, and the same limits."""
        self.app("plain")
        if database and not self._db_runs():
            self.project.up([DB], {})
            self._follow_db()
        found = self.project.container(SERVICES["plain"])
        if found is None:
            raise ServiceError(
                "The container of plain has gone.", found="somebody else removed it", tip="run the cell again."
            )
        java = ["java", *mains.jvm_flags(heap_mb), "-XX:AOTCache=app.aot", "-jar", "app.jar"]
        told = ["--env", f"{mains.DATABASE_FILE}={PROPERTIES}"] if database else []
        inside = ["sh", "-c", ENDS_WITH_US, "sh", *java, *mains.arguments(name, options)]
        run = ["docker", "--host", self.engine.host, "exec", "--interactive", "--workdir", "/app", *told]
        return Main([*run, found.id, *inside], paths.ROOT, machine.plain_environment(), held=True)

    def load_reads_the_clock_of(self, app: DockerApp) -> bool:
        """Whether the load container and the app are on one clock, where this process is not (Docker in a machine)."""
        command = ["python3", "-c", _CLOCKS, f"{app.url}/settings"]
        before, told, after = docker_containers.run_in(self.engine.host, self._load, command, LOAD).splitlines()
        return on_one_clock(float(before), json.loads(told)["monotonic_us"] / 1e6, float(after))

    def _load_runs(self) -> bool:
        try:
            return bool(self._load) and docker_containers.look(self.engine.host, self._load).running
        except Exception:
            return False

    def _spec(self, name: str) -> AppSpec:
        if name == CPU.name:
            return CPU
        spec = apps.spec_for(name)
        if name not in SERVICES:
            raise ServiceError(
                f"{name} does not run in Docker.", found="compose.yaml has no such service", tip="--runtime embedded"
            )
        return spec

    def _new_app(self, spec: AppSpec) -> DockerApp:
        return (CpuApp if spec is CPU else DockerApp)(spec, self, self._secrets["token"])

    def _tidy(self) -> None:
        super()._tidy()
        remove_leftovers(self.engine.host)

    def _open(self) -> None:
        """Starts a supervisor on a folder of its own, with the guard of its containers."""
        super()._open()
        _write_secrets(self.folder / "secrets" / "containers", self._secrets)
        self.project = Project(self.link, self.folder, self.engine, self._say)
        self.project.guard()

    def _revive_database(self, app: DockerApp, _wanted: dict[str, Value]) -> None:
        if DB in app.needs and not self._db_runs():
            self.project.up([DB], {})
            self._follow_db()
            app.until_pools_recover()

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
                app.same_clock = app.same_clock or self.load_reads_the_clock_of(app)
            except BaseException:
                if self.link.alive:
                    self.link.stop(app.name)
                app.asked = {}
                raise

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


def _write_secrets(folder: Path, secrets: dict[str, str]) -> None:
    """Writes the secrets that containers read.

    A container's user is not ours, so the files are open; the lab's folder around them is closed to others.
    """
    folder.mkdir()
    folder.chmod(0o755)
    for name, value in secrets.items():
        file = folder / name
        file.write_text(value, encoding="ascii")
        file.chmod(0o644)


def _raise_if_failed(started: Future[None]) -> None:
    if started.done():
        started.result()
