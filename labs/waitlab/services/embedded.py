"""The embedded runtime: the JVM of a Python package and PostgreSQL's programs, as children of a supervisor.

    EmbeddedLab     one supervisor, one database, the apps that were asked for
    EmbeddedApp     one JVM (embedded_app.py)

Database and JVM start at the same time; the JVM is told the database's port before anyone listens there.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from waitlab.controls import Value
from waitlab.errors import BuildError
from waitlab.services import apps, credentials, java, machine, mains, postgres_binaries
from waitlab.services.app import app_files
from waitlab.services.apps import AppSpec
from waitlab.services.embedded_app import EmbeddedApp, where_is
from waitlab.services.mains import Main
from waitlab.services.postgres import PortTaken, Postgres
from waitlab.services.supervised import SupervisedLab

STARTS_TRIED = 3


class EmbeddedLab(SupervisedLab):
    """The servers of one owner as child processes; nothing of them outlives it, unless it is detached."""

    runtime = "embedded"

    def __init__(self, why: str, *, detached: bool = False) -> None:
        self._postgres_home = postgres_binaries.postgres_home(_quiet)
        super().__init__(why, detached=detached)

    def machine(self) -> dict[str, Any]:
        """What the servers run on."""
        versions = {"java": java.java_version(java.java_home()), "postgres": postgres_binaries.VERSION}
        return {**machine.hardware(), **versions}

    def _open(self) -> None:
        """Starts a supervisor on a folder of its own, for a database of its own."""
        super()._open()
        self.db = Postgres(self.link, self.folder, self._postgres_home, machine.plain_environment())

    def _new_app(self, spec: AppSpec) -> EmbeddedApp:
        return EmbeddedApp(spec, self)

    def _check_built(self, spec: AppSpec) -> None:
        jar, _ = app_files(spec)
        if not jar.is_file():
            raise BuildError(f"{spec.name} is not built yet.", found=f"no {jar.name}", tip="waitlab build")

    def _main(self, name: str, options: Mapping[str, Value], heap_mb: int | None, *, database: bool) -> Main:
        """A child of ours; where it asks the database, that is started, and told in a file that only we can read."""
        if not database:
            return mains.here(name, options, heap_mb)
        self._check_usable(apps.PLAIN)
        self._with_database()
        file = credentials.write_properties(self.folder / "secrets" / f"{name}.properties", where_is(self.db))
        return mains.here(name, options, heap_mb, **{mains.DATABASE_FILE: str(file)})

    def _with_database(self) -> None:
        """Starts the database where it does not run; on another port where its own was taken."""
        for attempt in range(1, STARTS_TRIED + 1):
            try:
                self.db.ensure()
                return
            except PortTaken:
                self.db.port = 0
                if attempt == STARTS_TRIED:
                    raise

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
