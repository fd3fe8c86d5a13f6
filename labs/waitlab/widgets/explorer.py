"""`explore`: sliders for an experiment's controls, its model redrawn at once, a Run button for the server.

Work happens on a thread of its own, so the kernel stays free. The values are frozen at the click. However
many moves and clicks come while a run lasts, one more run follows at most, with the last values asked for.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from waitlab.controls import Control, Value
from waitlab.errors import ControlError, WaitlabError
from waitlab.predictions import cell_id, show

if TYPE_CHECKING:
    from waitlab.deciding import Sheet
    from waitlab.runs import Run
    from waitlab.widgets.sheet import SheetExplorer

__all__ = ["Explorer", "explore"]

IDLE, RUNNING, STOPPING = "idle", "running", "stopping"
SHOWN = 4
_in_cell: dict[str, Explorer | SheetExplorer] = {}


class Explorable(Protocol):
    """What `explore` needs of an experiment."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def question(self) -> str:
        """What it asks."""

    @property
    def controls(self) -> tuple[Control, ...]:
        """What can be set."""

    @property
    def model(self) -> Callable[[Mapping[str, Value]], dict[str, Any]]:
        """What theory predicts for these settings."""

    def settle(self, given: Mapping[str, object]) -> dict[str, Value]:
        """All controls with their values, checked."""


Runner = Callable[..., "Run"]


def explore(
    name: str | Callable[..., Sheet], show: Sequence[str] | None = None, **fixed: object
) -> Explorer | SheetExplorer:
    """Sliders for the controls in `show` (else the first four), the model, a Run button; `fixed` stays.

    `explore(decide)` shows the decision sheet with its sliders, all of them unless `show` names some.
    """
    from IPython.display import display

    explorer = _explorer(name, show, fixed)
    here = cell_id()
    if here and here in _in_cell:
        _in_cell[here].close()
    _in_cell[here] = explorer
    display(explorer.box)
    return explorer


def _explorer(
    name: str | Callable[..., Sheet], show: Sequence[str] | None, fixed: Mapping[str, object]
) -> Explorer | SheetExplorer:
    from waitlab import experiments

    if callable(name):
        from waitlab.widgets.sheet import SheetExplorer

        return SheetExplorer(name, show=show, fixed=fixed)
    return Explorer(experiments.get(name), show=show, fixed=fixed)


class Explorer:
    """The widget behind `explore`: `state`, `runs`, `set`, `run`, `stop`, `wait`."""

    def __init__(
        self,
        experiment: Explorable,
        *,
        show: Sequence[str] | None = None,
        fixed: Mapping[str, object] | None = None,
        runner: Runner | None = None,
    ) -> None:
        knobs = importlib.import_module("waitlab.widgets.knobs")
        live = importlib.import_module("waitlab.charts.live")
        self.experiment = experiment
        self.state = IDLE
        self._runner = runner
        self._fixed = dict(fixed or {})
        self._lock = threading.RLock()
        self._next: dict[str, object] | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._done = threading.Event()
        self._done.set()
        settings = experiment.settle(self._fixed)
        self.figure = live.LiveFigure(experiment.question, _drawn(experiment, settings))
        self.knobs = knobs.Knobs(_chosen(experiment, show), settings, self._moved)
        self._panel = importlib.import_module("waitlab.widgets.panel").Panel(self.knobs.widgets, self.figure.widget)
        self._panel.run.on_click(lambda _: self.run())
        self._panel.stop.on_click(lambda _: self.stop())
        self.box = self._panel.box
        self._redraw()

    def __repr__(self) -> str:
        return f"explore({self.experiment.name!r}): {self.state}, {len(self.runs)} runs"

    def _ipython_display_(self) -> None:
        """Shown by `explore` already; as the last expression of a cell it says nothing more."""

    @property
    def runs(self) -> list[Run]:
        """The Runs in the figure, oldest first."""
        return list(self.figure.runs)

    def set(self, **values: Value) -> None:
        """Moves sliders, as a reader would."""
        self.knobs.set(**values)

    def run(self) -> None:
        """Measures with the values of this moment; while a run lasts, asks for one more after it."""
        asked = self._given()
        with self._lock:
            if self.state != IDLE:
                self._next = asked
                self._panel.tell("One more run follows, with the values you see now.")
                return
            self.state = RUNNING
            self._done.clear()
            self._stop = threading.Event()
        self._panel.enter(RUNNING)
        self._thread = threading.Thread(target=self._work, args=(asked,), name="waitlab-explore", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the run that lasts, and asks for no other."""
        with self._lock:
            self._next = None
            if self.state == RUNNING:
                self.state = STOPPING
                self._stop.set()
                self._panel.enter(STOPPING)

    def wait(self, timeout_s: float = 60.0) -> bool:
        """Waits until no run lasts; False after `timeout_s`."""
        return self._done.wait(timeout_s)

    def close(self) -> None:
        """Ends the run that lasts and takes the widget away."""
        self.stop()
        self._panel.box.close()

    def _given(self) -> dict[str, object]:
        return {**self._fixed, **self.knobs.given}

    def _moved(self) -> None:
        self._redraw()
        if self._panel.on_change.value:
            self.run()

    def _redraw(self) -> None:
        """The model for the sliders as they are: line, words, and the knobs nobody has moved."""
        try:
            settings = self.experiment.settle(self._given())
            model = self.experiment.model(settings)
        except WaitlabError as error:
            self._panel.refuse(error.text)
            return
        self.knobs.follow(settings)
        self.figure.show_model(model)
        self._panel.predict(_in_words(model))

    def _work(self, asked: dict[str, object] | None) -> None:
        """The worker thread: one run, and one more for as long as somebody asked while it lasted."""
        while asked is not None:
            self._measure(asked)
            with self._lock:
                asked, self._next = self._next, None
                self.state = IDLE if asked is None else RUNNING
                self._stop = self._stop if asked is None else threading.Event()
                self._panel.enter(self.state)
        self._done.set()

    def _measure(self, asked: Mapping[str, object]) -> None:
        runner = self._runner or importlib.import_module("waitlab.session").run
        try:
            run = runner(self.experiment.name, progress=self._panel.progress, stop=self._stop, **asked)
            self.figure.add(run)
            self._panel.say(run.line, self.figure.caption())
        except WaitlabError as error:
            self._panel.fail(error.text)
        except BaseException as error:  # a traceback on this thread would reach nobody
            self._panel.fail(f"The run ended unexpectedly ({type(error).__name__}): {error}")


def _chosen(experiment: Explorable, names: Sequence[str] | None) -> list[Control]:
    known = {control.name: control for control in experiment.controls}
    for name in names or ():
        if name not in known:
            raise ControlError(f"{experiment.name} has no control named {name!r}.", tip=", ".join(known))
    return [known[name] for name in names] if names else list(known.values())[:SHOWN]


def _drawn(experiment: Explorable, settings: Mapping[str, Value]) -> str:
    """The kind of chart that the experiment asks for, if it asks for any."""
    drawn = getattr(experiment, "drawn", None)
    return str(drawn(settings)) if drawn else "latency"


def _in_words(model: Mapping[str, Any]) -> str:
    facts = [(name, value) for name, value in model.items() if isinstance(value, int | float)]
    return ", ".join(f"{name} {show(value)}" for name, value in facts)
