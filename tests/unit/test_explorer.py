"""The widget behind `explore`: sliders, one run at a time, Stop, errors as text."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import pytest
from waitlab.controls import Control, settle
from waitlab.errors import ControlError, ServiceDied
from waitlab.load.samples import Sample
from waitlab.runs import Run, Series
from waitlab.widgets.explorer import Explorer
from waitlab.widgets.knobs import steps

WAIT_S = 10
CONTROLS = (
    Control("k", int, 4, low=0, high=8),
    Control("cpus", int, 2, low=1, high=64),
    Control("pool", int, lambda s: 10 * int(s["cpus"]), low=1, high=2000, computed="10 x cpus"),
    Control("endpoint", str, "sleep", choices=("sleep", "r2dbc")),
    Control("keep_alive", bool, False),
)


@dataclass
class Fake:
    """An experiment whose model is a line as high as k."""

    name: str = "fake"
    question: str = "Who waits?"
    controls: tuple[Control, ...] = CONTROLS

    def settle(self, given):
        return settle(self.controls, given, self.name)

    def model(self, settings):
        if settings["k"] == 7:
            raise ControlError("Seven is too many.", tip="k=6")
        return {"height": settings["k"], "curve": {"x": [0, 1], "y": [settings["k"], 0]}}


class Bench:
    """A runner that waits until it may go on, and remembers what it was asked."""

    def __init__(self):
        self.asked: list[dict[str, Any]] = []
        self.started = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.error: BaseException | None = None

    def __call__(self, name, *, progress, stop, **controls):
        self.asked.append(controls)
        self.started.release()
        progress(0.5, "half of it")
        while not self.go.acquire(timeout=0.005) and not stop.is_set():
            pass
        if self.error is not None:
            raise self.error
        settings = settle(CONTROLS, controls, name)
        sample = Sample("fast", 0, 0.0, 0.0, 0.1, 0.1, 200, "ok", "loop-1", None, None)
        series = {"fast": Series("fast", (sample,))}
        fields = (
            settings,
            {},
            "embedded",
            True,
            {},
            "",
            "2026-01-01T00:00:00Z",
            0.1,
            series,
            {},
            {},
            {},
            "one <b>line</b>",
        )
        return Run(name, *fields, partial=stop.is_set())


@pytest.fixture
def bench():
    return Bench()


@pytest.fixture
def explorer(bench):
    made = Explorer(Fake(), show=[c.name for c in CONTROLS], runner=bench)
    yield made
    made.stop()
    assert made.wait(WAIT_S)


def filled(explorer):
    return [trace for trace in explorer.figure.widget.data[2:] if trace.visible]


def test_a_moved_slider_redraws_the_model(explorer):
    explorer.set(k=6)
    assert list(explorer.figure.widget.data[0].y) == [6, 0]
    assert "height 6" in explorer._panel.theory.value


def test_a_knob_nobody_moved_follows_its_computed_default(explorer):
    explorer.set(cpus=6)
    assert explorer.knobs.widgets["pool"].value == 60
    explorer.set(pool=5)
    explorer.set(cpus=8)
    assert explorer.knobs.widgets["pool"].value == 5


def test_values_are_frozen_at_the_click(explorer, bench):
    explorer.set(k=3)
    explorer.run()
    bench.started.acquire()
    explorer.set(k=8)
    bench.go.release()
    assert explorer.wait(WAIT_S)
    assert [run.settings["k"] for run in explorer.runs] == [3]


def test_fifty_moves_and_many_clicks_during_a_run_cause_one_more_with_the_last_values(explorer, bench):
    explorer.run()
    bench.started.acquire()
    for step in range(50):
        explorer.set(k=step % 6)
        explorer.run()
    bench.go.release(2)
    assert explorer.wait(WAIT_S)
    assert [run.settings["k"] for run in explorer.runs] == [4, 49 % 6]


def test_moves_alone_cause_no_run(explorer, bench):
    for step in range(50):
        explorer.set(k=step % 6)
    assert (bench.asked, explorer.state) == ([], "idle")


def test_run_on_every_change_coalesces_too(explorer, bench):
    explorer._panel.on_change.value = True
    for step in (1, 2, 3, 5):
        explorer.set(k=step)
    bench.go.release(4)
    assert explorer.wait(WAIT_S)
    assert [asked["k"] for asked in bench.asked] == [1, 5]


def test_stop_ends_the_run_and_forgets_the_next(explorer, bench):
    explorer.run()
    bench.started.acquire()
    explorer.run()
    explorer.stop()
    assert explorer.wait(1.0)
    assert (len(bench.asked), explorer.state, explorer.runs[0].partial) == (1, "idle", True)
    assert "stopped early" in explorer._panel.under.value


def test_the_buttons_say_the_state(explorer, bench):
    panel = explorer._panel
    assert (panel.run.description, panel.stop.disabled) == ("Run", True)
    explorer.run()
    bench.started.acquire()
    assert (panel.run.description, panel.stop.disabled) == ("Running …", False)
    bench.go.release()
    assert explorer.wait(WAIT_S)
    assert (panel.run.description, panel.stop.disabled) == ("Run", True)


@pytest.mark.parametrize(
    "error", [ServiceDied("The server <b>died</b>.", tip="again"), RuntimeError("<b>odd</b>"), KeyboardInterrupt("<b>")]
)
def test_an_error_is_text_in_the_widget_and_the_next_run_works(explorer, bench, error):
    bench.error = error
    bench.go.release(2)
    explorer.run()
    assert explorer.wait(WAIT_S)
    assert "<b>" not in explorer._panel.under.value
    assert "&lt;b&gt;" in explorer._panel.under.value
    bench.error = None
    explorer.run()
    assert explorer.wait(WAIT_S)
    assert len(explorer.runs) == 1


def test_what_the_run_says_is_text(explorer, bench):
    bench.go.release()
    explorer.run()
    assert explorer.wait(WAIT_S)
    assert "one &lt;b&gt;line&lt;/b&gt;" in explorer._panel.under.value


def test_ten_runs_are_one_figure_and_told_apart(explorer, bench):
    for k in range(10):
        explorer.set(k=k % 7)
        bench.go.release()
        explorer.run()
        assert explorer.wait(WAIT_S)
    traces = filled(explorer)
    assert len(traces) == len({t.marker.symbol for t in traces}) == len({t.name for t in traces}) == 10


def test_the_thirteenth_run_takes_the_place_of_the_oldest(explorer, bench):
    bench.go.release(13)
    for _ in range(13):
        explorer.run()
        assert explorer.wait(WAIT_S)
    assert len(explorer.runs) == len(filled(explorer)) == 12
    assert explorer.figure.widget.data[2].name.startswith("13: ")


def test_settings_the_model_refuses_are_told_and_taken_back(explorer):
    explorer.set(k=7)
    assert "Seven is too many." in explorer._panel.theory.value
    explorer.set(k=6)
    assert "height 6" in explorer._panel.theory.value


def test_fixed_controls_go_into_every_run(bench):
    explorer = Explorer(Fake(), show=["k"], fixed={"endpoint": "r2dbc"}, runner=bench)
    bench.go.release()
    explorer.run()
    assert explorer.wait(WAIT_S)
    assert explorer.runs[0].settings["endpoint"] == "r2dbc"


def test_an_unknown_control_is_refused():
    with pytest.raises(ControlError, match="pools"):
        Explorer(Fake(), show=["pools"])


def test_wide_ranges_have_steps_that_hold_both_ends():
    wide = steps(1, 2000, int)
    assert wide[:10] == list(range(1, 11))
    assert wide[-1] == 2000
    assert len(wide) < 40
    assert steps(0, 500, int)[0] == 0
    assert steps(0.5, 20, float)[0] == 0.5
