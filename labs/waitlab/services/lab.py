"""A lab: the servers of one reader, in one of the runtimes. What an experiment needs of it is here.

Lab     app() starts, changes or restarts; running(); run_plan(); run_main(); machine(); close()
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from waitlab.controls import Value
from waitlab.errors import ServiceError
from waitlab.services.app import App

if TYPE_CHECKING:
    from waitlab.load.client import LoadResult
    from waitlab.load.plans import Plan
    from waitlab.services.mains import Main


class Lab(ABC):
    """The servers of one owner. `why` says in a sentence why it is this runtime."""

    runtime = ""

    def __init__(self, why: str, lab_id: str) -> None:
        self.why = why
        self.lab_id = lab_id

    def __enter__(self) -> Lab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def app(self, name: str, **settings: object) -> App:
        """The named app, running with these settings: as it runs, changed live, or started afresh.

        Settings that are left out have their defaults; with none at all a running app stays as it is.
        """

    @abstractmethod
    def running(self) -> dict[str, App]:
        """The apps that run now, by name."""

    @abstractmethod
    def machine(self) -> dict[str, Any]:
        """What the servers run on: cpus, memory_mb, cpu_model, os, java, postgres."""

    @abstractmethod
    def close(self) -> None:
        """Stops everything; returns when nothing is left. A second call does nothing."""

    def database_died_s(self) -> float | None:
        """When the lab's database ended unasked (monotonic seconds); None if it runs or never ran."""
        return None

    def run_plan(
        self,
        plan: Plan,
        progress: Callable[[int, int], None] | None = None,
        stop: threading.Event | None = None,
    ) -> LoadResult:
        """Drives a plan with the load engine, where load runs in this runtime."""
        from waitlab.load.client import run_plan

        return run_plan(plan, argv=self._load_engine(), progress=progress, stop=stop)

    def run_main(
        self,
        name: str,
        options: Mapping[str, Value],
        *,
        stop: threading.Event | None = None,
        told: Callable[[dict[str, Any]], None] | None = None,
        heap_mb: int | None = None,
        wall_s: float | None = None,
        database: bool = False,
    ) -> list[dict[str, Any]]:
        """Runs an experiment on the plain JVM (a main of labs/apps/jvm) to its end; the objects it printed.

        Each is told as it comes. `heap_mb` MiB of heap (else a usual one), at most `wall_s` seconds, and `database`
        where it is to find the lab's PostgreSQL. KeyboardInterrupt where `stop` was set, MainEnded where memory or
        time ran out, ServiceDied where it failed.
        """
        from waitlab.services import mains

        main = self._main(name, options, heap_mb, database=database)
        return mains.run(
            main.argv, name=name, cwd=main.cwd, env=main.env, held=main.held, stop=stop, told=told, wall_s=wall_s
        )

    def _main(self, name: str, options: Mapping[str, Value], heap_mb: int | None, *, database: bool) -> Main:
        """The command that runs a main where servers run in this runtime."""
        from waitlab.services import mains

        if database:
            raise ServiceError("This runtime has no database.", found=self.runtime, tip="--runtime embedded")
        return mains.here(name, options, heap_mb)

    def _load_engine(self) -> list[str] | None:
        """The command that runs the load engine; None for this machine's own."""
        return None
