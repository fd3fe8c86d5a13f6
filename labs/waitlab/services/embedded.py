"""The embedded runtime: the JVM of a Python package and PostgreSQL's programs, as children of a supervisor.

    EmbeddedLab     one supervisor, one database, the apps that were asked for
    EmbeddedApp     one JVM (embedded_app.py)

Database and JVM start at the same time; the JVM is told the database's port before anyone listens there.
"""

from __future__ import annotations

import atexit
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from waitlab.controls import Value
from waitlab.errors import BuildError, ServiceError
from waitlab.services import apps, java, machine, postgres_binaries, state
from waitlab.services.app import App, app_files
from waitlab.services.apps import AppSpec
from waitlab.services.embedded_app import EmbeddedApp
from waitlab.services.lab import Lab
from waitlab.services.link import Link
from waitlab.services.postgres import PortTaken, Postgres

STARTS_TRIED = 3


class EmbeddedLab(Lab):
    """The servers of one owner as child processes; nothing of them outlives it, unless it is detached."""

    runtime = "embedded"

    def __init__(self, why: str, *, detached: bool = False) -> None:
        state.tidy()
        self.detached = detached
        self._apps: dict[str, EmbeddedApp] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._owner = os.getpid()
        self._postgres_home = postgres_binaries.postgres_home(_quiet)
        self._open()
        super().__init__(why, self.folder.name)
        atexit.register(self.close)

    def app(self, name: str, **settings: object) -> App:
        """The named app, running with these settings: as it runs, changed live, or started afresh."""
        spec = apps.spec_for(name)
        with self._lock:
            known = self._apps.get(name)
            wanted = dict(known.asked) if known and known.asked and not settings else spec.settle(settings)
            self._check_usable(spec)
            app = self._apps.setdefault(name, EmbeddedApp(spec, self))
            self._bring(app, wanted)
            return app

    def running(self) -> dict[str, App]:
        """The apps that run now, by name."""
        return {name: app for name, app in self._apps.items() if app.running()}

    def machine(self) -> dict[str, Any]:
        """What the servers run on."""
        versions = {"java": java.java_version(java.java_home()), "postgres": postgres_binaries.VERSION}
        return {**machine.hardware(), **versions}

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

    def _open(self) -> None:
        """Starts a supervisor on a folder of its own."""
        self.folder = state.new_folder()
        self.link = Link(self.folder)
        self.db = Postgres(self.link, self.folder, self._postgres_home, machine.plain_environment())
        self.link.ask("note", facts={"runtime": self.runtime, "owner": self._owner})

    def _check_usable(self, spec: AppSpec) -> None:
        """A closed lab stays closed; one whose supervisor was killed opens again."""
        if self._closed:
            raise ServiceError("This lab is closed.", tip="start a new one: run the cell that starts it again.")
        jar, _ = app_files(spec)
        if not jar.is_file():
            raise BuildError(f"{spec.name} is not built yet.", found=f"no {jar.name}", tip="waitlab build")
        if not self.link.alive:
            self.link.close()
            self.link.gone()
            state.tidy()
            self._open()
            self.lab_id = self.folder.name

    def _bring(self, app: EmbeddedApp, wanted: dict[str, Value]) -> None:
        """Makes the app run with these settings, by the gentlest way that leads there."""
        changed = {name: value for name, value in wanted.items() if app.asked.get(name) != value}
        if not app.running() or not all(apps.is_live(app.spec, name) for name in changed):
            self._start(app, wanted)
        else:
            self._revive_database(app, wanted)
            if changed:
                app.change(**changed)

    def _revive_database(self, app: EmbeddedApp, wanted: dict[str, Value]) -> None:
        """Starts the database again if it has died; where its port is lost, the app must learn the new one."""
        try:
            if self.db.ensure():
                app.until_pools_recover()
        except PortTaken:
            self.db.port = 0
            self._start(app, wanted)

    def _start(self, app: EmbeddedApp, wanted: dict[str, Value]) -> None:
        """Starts the app and the database side by side; again where the database's port was taken."""
        for attempt in range(1, STARTS_TRIED + 1):
            try:
                self._start_once(app, wanted)
                break
            except PortTaken:
                self.db.port = 0
                if attempt == STARTS_TRIED:
                    raise
        if self.detached:
            self.link.ask("note", facts={"detached": True})

    def _start_once(self, app: EmbeddedApp, wanted: dict[str, Value]) -> None:
        self.link.stop(app.name)
        self.db.reserve()
        with ThreadPoolExecutor(1) as pool:
            database = pool.submit(self.db.ensure)
            try:
                app.launch(wanted)
                app.until_ready(lambda: _raise_if_failed(database))
                database.result()
            except BaseException:
                if self.link.alive:
                    self.link.stop(app.name)
                app.asked = {}
                raise


def _raise_if_failed(database: Future[bool]) -> None:
    if database.done():
        database.result()


def _quiet(_line: str) -> None:
    """Says nothing."""
