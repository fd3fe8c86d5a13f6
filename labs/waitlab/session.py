"""The reader's lab: one per kernel (or command), opened at the first need, closed at the end.

The verbs of a chapter that touch servers live here: `start`, `stop`, `run`, `recorded`. A second thread (a widget's
Run button) may call them too; they wait for each other.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING

from waitlab import experiments, recordings
from waitlab.errors import ControlError, Interrupted, RecordedOnly, quoted
from waitlab.experiments.base import Experiment, Progress
from waitlab.experiments.measure import measure
from waitlab.progress import Teller

if TYPE_CHECKING:
    from waitlab.runs import Run
    from waitlab.services import App, Lab

RUNTIMES = ("auto", "docker", "embedded", "recorded")
_busy = threading.RLock()
_lab: Lab | None = None


def runtime_asked() -> str:
    """The runtime asked for by WAITLAB_RUNTIME, else "auto"."""
    asked = os.environ.get("WAITLAB_RUNTIME") or "auto"
    if asked not in RUNTIMES:
        raise ControlError(
            f"WAITLAB_RUNTIME takes {', '.join(RUNTIMES)}, and not {quoted(asked)}.", tip="WAITLAB_RUNTIME=auto"
        )
    return asked


def lab() -> Lab:
    """The lab of this process, opened if it is not yet."""
    global _lab
    from waitlab.services import open_lab

    with _busy:
        if _lab is None:
            _lab = open_lab(runtime_asked())
        return _lab


def start(app: str = "webflux", **settings: object) -> App:
    """The named server, running with these settings: starts it, changes it live, or restarts it."""
    with _busy:
        try:
            return lab().app(app, **settings)
        except KeyboardInterrupt:
            raise Interrupted(f"The start of {app} was stopped.", tip="run the cell again to start it") from None


def stop() -> None:
    """Stops every server that this process started."""
    global _lab
    with _busy:
        if _lab is not None:
            _lab.close()
            _lab = None


def run(
    experiment: str,
    *,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    live: bool = False,
    **controls: object,
) -> Run:
    """Measures `experiment` with these controls on a real server and prints the Run's line.

    Where no server can run a recorded run takes its place and says so; also where only another runtime could measure
    this, unless `live`. `progress` (share done, words) and `stop` are for widgets. ControlError before any start.
    """
    asked = experiments.get(experiment)
    settings = asked.settle(controls)
    teller = Teller(progress)
    with _busy, teller:
        try:
            if _replays(asked, _runtime(), live):
                return teller.end(recordings.load(asked, settings))
            return teller.end(measure(asked, settings, lab(), teller.told, stop))
        except KeyboardInterrupt:
            raise Interrupted(
                f"{experiment} was stopped before anything was measured; the servers go on.",
                tip="run the cell again, or stop() to end the servers",
            ) from None


def _runtime() -> str:
    """Where runs happen: the lab's runtime, opened if it is not yet, or "recorded" where no server can run."""
    try:
        return lab().runtime
    except RecordedOnly:
        return "recorded"


def _replays(asked: Experiment, runtime: str, live: bool) -> bool:
    """Whether a recording must stand in: no server can run here, or not the runtime that this question needs."""
    elsewhere = asked.needs not in ("", runtime) and bool(recordings.known(asked))
    return runtime == "recorded" or (elsewhere and not live)


def recorded(experiment: str, **controls: object) -> Run:
    """The recorded run of `experiment` with these controls; ControlError with the nearest if there is none."""
    asked = experiments.get(experiment)
    with Teller(None) as teller:
        return teller.end(recordings.load(asked, asked.settle(controls)))


atexit.register(stop)
