"""What the runtimes with real servers have in common: one supervisor a lab, and apps that it watches.

    SupervisedLab       the gentlest way to the settings that are wanted; opening, reopening, closing
    SupervisedApp       a server that lives as long as a child of the supervisor does

A runtime adds how its apps and its database are started (embedded.py, docker_lab.py).
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from waitlab.controls import Value
from waitlab.errors import ServiceDied, ServiceError, ServiceTimeout
from waitlab.services import apps, state
from waitlab.services.app import App
from waitlab.services.apps import AppSpec
from waitlab.services.lab import Lab
from waitlab.services.link import Child, Link
from waitlab.services.postgres import SERVICE

POOLS_S = 10.0
UNCHECKED_S = 0.6
"""HikariCP hands a connection out without a look if it was used within the last half second."""
POLL_S = 0.02


class SupervisedApp(App):
    """A server that a child of the supervisor stands for: it runs as long as that child does."""

    ready_s = 40.0
    mend = "run the cell again."
    """What to try where the server does not come up."""

    def __init__(self, spec: AppSpec, lab: SupervisedLab, token: str) -> None:
        super().__init__(spec, token)
        self._lab: Any = lab

    @property
    def _link(self) -> Link:
        link: Link = self._lab.link
        return link

    @property
    def _child(self) -> Child | None:
        return self._link.child(self.name)

    @abstractmethod
    def _listens(self) -> bool:
        """Whether it is known where the server listens; found out here."""

    @abstractmethod
    def _facts(self) -> Mapping[str, Any]:
        """What the lab's word says of it when it is ready."""

    def running(self) -> bool:
        """Whether its child is there and the supervisor watches it."""
        return self._link.alive and self._child is not None and self._child.running

    def died_s(self) -> float | None:
        """When the server, or the supervisor that watched it, ended unasked (monotonic seconds)."""
        child = self._child
        if child is None or child.wanted:
            return None
        return self._link.ended_s if child.running else child.ended_s

    def who_ended(self) -> str:
        """The server, or the supervisor without which nobody watches it."""
        child = self._child
        return f"The supervisor of {self.name}" if child is not None and child.running else self.name

    def database_died_s(self) -> float | None:
        """When the lab's database ended unasked (monotonic seconds); None if it runs or never ran."""
        found: float | None = self._lab.database_died_s()
        return found

    def logs(self, lines: int = 50) -> list[str]:
        """The last lines of its log."""
        return state.tail(self._lab.folder / "logs" / f"{self.name}.log", lines)

    def until_ready(self, check: Callable[[], None]) -> None:
        """Waits for a 200 through the app's own port; notices death, and whatever `check` raises."""
        end = time.monotonic() + self.ready_s
        while time.monotonic() < end:
            self._check_comes_up()
            check()
            if self._listens() and self.answers(self.spec.ready):
                self.read_back()
                self._link.ask("note", name=self.name, facts=self._facts())
                return
            self._link.wait(POLL_S)
        raise ServiceTimeout(
            f"{self.name} did not answer {self.spec.ready} with 200 within {self.ready_s:g} s.",
            found="; ".join(self.logs(3)) or "an empty log",
            tip="look at the machine's load, then run the cell again.",
        )

    def _check_comes_up(self) -> None:
        try:
            self.check_alive()
        except ServiceDied as death:
            raise ServiceDied(f"{self.name} ended before it answered.", found=death.found, tip=self.mend) from None

    def until_pools_recover(self) -> None:
        """Waits until the app's pools have replaced the connections that a database took with it."""
        end = time.monotonic() + POOLS_S
        over = time.monotonic() + UNCHECKED_S
        while time.monotonic() < end:
            self._link.wait(POLL_S)
            if time.monotonic() > over and all(map(self.answers, self.spec.queries)):
                return
        raise ServiceTimeout(
            f"The database is back, but {self.name} did not reach it within {POOLS_S:g} s.",
            found="; ".join(self.logs(3)) or "an empty log",
            tip="stop and start the server.",
        )


class SupervisedLab(Lab):
    """The servers of one owner; nothing of them outlives it, unless it is detached."""

    folder: Path
    link: Link

    def __init__(self, why: str, *, detached: bool = False) -> None:
        self.detached = detached
        self._apps: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._owner = os.getpid()
        self._tidy()
        self._open()
        super().__init__(why, self.folder.name)
        atexit.register(self.close)

    @abstractmethod
    def _new_app(self, spec: AppSpec) -> Any:
        """An app of this runtime, not started yet."""

    @abstractmethod
    def _start(self, app: Any, wanted: dict[str, Value]) -> None:
        """Starts the app with these settings, and what it needs; leaves nothing of it where that fails."""

    @abstractmethod
    def _revive_database(self, app: Any, wanted: dict[str, Value]) -> None:
        """Starts the database again if it has died under an app that runs."""

    def app(self, name: str, **settings: object) -> App:
        """The named app, running with these settings: as it runs, changed live, or started afresh."""
        spec = self._spec(name)
        with self._lock:
            known = self._apps.get(name)
            wanted = dict(known.asked) if known and known.asked and not settings else spec.settle(settings)
            self._check_usable(spec)
            app: App = self._apps.setdefault(name, self._new_app(spec))
            self._bring(app, wanted)
            return app

    def running(self) -> dict[str, App]:
        """The apps that run now, by name."""
        return {name: app for name, app in self._apps.items() if app.running()}

    def database_died_s(self) -> float | None:
        """When the lab's database ended unasked (monotonic seconds); None if it runs or never ran."""
        child = self.link.child(SERVICE)
        return None if child is None or child.wanted else child.ended_s

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
            self._tidy()

    def _spec(self, name: str) -> AppSpec:
        return apps.spec_for(name)

    def _tidy(self) -> None:
        """Removes what dead labs left."""
        state.tidy()

    def _open(self) -> None:
        """Starts a supervisor on a folder of its own."""
        self.folder = state.new_folder()
        self.link = Link(self.folder)
        self.link.ask("note", facts={"runtime": self.runtime, "owner": self._owner})

    def _check_usable(self, spec: AppSpec) -> None:
        """A closed lab stays closed; one whose supervisor was killed opens again."""
        if self._closed:
            raise ServiceError("This lab is closed.", tip="start a new one: run the cell that starts it again.")
        self._check_built(spec)
        if not self.link.alive:
            self.link.close()
            self.link.gone()
            self._tidy()
            self._open()
            self.lab_id = self.folder.name

    def _check_built(self, spec: AppSpec) -> None:
        """BuildError where the app cannot be started because it was not built."""

    def _bring(self, app: Any, wanted: dict[str, Value]) -> None:
        """Makes the app run with these settings, by the gentlest way that leads there."""
        changed = {name: value for name, value in wanted.items() if app.asked.get(name) != value}
        if not app.running() or not all(apps.is_live(app.spec, name) for name in changed):
            self._start(app, wanted)
            if self.detached:
                self.link.ask("note", facts={"detached": True})
            return
        self._revive_database(app, wanted)
        if changed:
            app.change(**changed)
