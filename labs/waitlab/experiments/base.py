"""What an experiment is: a question with controls, a model, a way to run, a way to be drawn.

Chapters, sliders, the command line, tests and recordings all go through `Experiment`. `measure` gets a Bench (the
lab's servers, the load engine, progress and Stop) and returns an Outcome; `Experiment` never starts anything itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from waitlab.controls import Control, Settings, Value, settle
from waitlab.experiments.deaths import Cut, check_alive, died_s
from waitlab.load.samples import Sample

if TYPE_CHECKING:
    from waitlab.load.client import LoadResult
    from waitlab.load.plans import Plan
    from waitlab.services import App, Lab

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Outcome:
    """What `measure` brings back; `t0_s` is the monotonic time of the plan's start."""

    samples: tuple[Sample, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    in_force: Mapping[str, Any] = field(default_factory=dict)
    client: Mapping[str, Any] = field(default_factory=dict)
    t0_s: float = 0.0
    partial: bool = False
    notes: tuple[str, ...] = ()


@dataclass
class Bench:
    """What an experiment may use while it runs. A run ends soon after the death of a server that it uses."""

    lab: Lab
    progress: Progress
    stop: threading.Event
    _used: dict[str, App] = field(default_factory=dict)

    def app(self, name: str, **settings: Value) -> App:
        """The named app, running with these settings."""
        running = self.lab.running().get(name)
        self.progress(0.0, f"starting {name}" if running is None else f"preparing {name}")
        self._used[name] = self.lab.app(name, **settings)
        return self._used[name]

    def died(self) -> bool:
        """Whether a server in use, or its database, has died."""
        return died_s(self._used.values()) is not None

    def load(self, plan: Plan, what: str = "requests") -> LoadResult:
        """Drives the plan with the runtime's load engine; Stop and Interrupt make the result partial.

        One that is cut off since a server died is not partial: all that was to be had is there.
        """
        self.check_stop()
        self._check_alive()

        def told(done: int, of: int) -> None:
            self.progress(done / max(of, 1), f"{done} of {of} {what} answered")

        cut = self._cut()
        result = self.lab.run_plan(plan, told, cut)
        return replace(result, partial=False) if result.partial and cut.late and not cut.stopped else result

    def unmeasured(self, plan: Plan) -> LoadResult:
        """Drives a plan that only prepares; Stop and Interrupt end the whole run, since nothing was measured.

        ServiceDied where a server died meanwhile.
        """
        self._check_alive()
        cut = self._cut()
        result = self.lab.run_plan(plan, None, cut)
        if result.partial and not cut.late:
            raise KeyboardInterrupt
        self._check_alive()
        return result

    def _check_alive(self) -> None:
        for app in self._used.values():
            check_alive(app)

    def _cut(self) -> Cut:
        return Cut(lambda: died_s(self._used.values()), self.stop)

    def check_stop(self) -> None:
        """Ends the run here if the reader pressed Stop."""
        if self.stop.is_set():
            raise KeyboardInterrupt


@dataclass(frozen=True)
class Experiment:
    """One question of a chapter. `draw` names the chart that suits it, or finds it from the settings.

    `needs` is the only runtime that can answer it; "" if any can.
    """

    name: str
    question: str
    chapter: str
    measure: Callable[[Bench, Settings], Outcome]
    line: Callable[[Settings, Outcome], str]
    controls: tuple[Control, ...] = ()
    model: Callable[[Settings], dict[str, Any]] = lambda settings: {}
    limits: Callable[[Settings], None] = lambda settings: None
    series: tuple[str, ...] = ()
    draw: str | Callable[[Settings], str] = "timeline"
    needs: str = ""

    def settle(self, given: Mapping[str, object]) -> dict[str, Any]:
        """All controls, checked against their ranges and this machine's limits; ControlError if one is wrong."""
        settings = settle(self.controls, given, self.name)
        self.limits(settings)
        return settings

    def drawn(self, settings: Settings) -> str:
        """The kind of chart that suits a run with these settings."""
        return self.draw(settings) if callable(self.draw) else self.draw

    def describe(self) -> dict[str, Any]:
        """Name, question, chapter and controls, ready for JSON."""
        return {
            "name": self.name,
            "question": self.question,
            "chapter": self.chapter,
            "series": list(self.series),
            "controls": [_describe(control) for control in self.controls],
        }


def _describe(control: Control) -> dict[str, Any]:
    default = control.computed if callable(control.default) else control.default
    return {
        "name": control.name,
        "unit": control.unit,
        "default": default,
        "range": control.range,
        "help": control.help,
    }
