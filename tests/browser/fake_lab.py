"""An experiment without a server, for browser tests: a falling line as its model, its Runs on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from waitlab.controls import Control, Settings
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.load.samples import Sample
from waitlab.runs import Run, Series

CONTROLS = (
    Control("k", int, 4, low=0, high=8, help="blockers, all at once"),
    Control("cpus", int, 2, low=1, high=64, help="processors"),
    Control("block_ms", int, 2000, "ms", 1, 60_000, help="how long each blocks"),
    Control("endpoint", str, "sleep", choices=("sleep", "jdbc-isolated", "r2dbc"), help="what is called"),
)


def _never(_bench: Bench, _settings: Settings) -> Outcome:
    raise AssertionError("this experiment has no server")


def _model(settings: Settings) -> dict[str, Any]:
    block_s = float(settings["block_ms"]) / 1000
    held = settings["endpoint"] == "sleep" and int(settings["k"]) >= 4
    x = [step / 20 * 2.2 for step in range(21)]
    y = [max(block_s - t, 0) * 1000 * held for t in x]
    return {"held_share": float(held), "curve": {"x": x, "y": y, "x_label": "sent, s", "y_label": "wait, ms"}}


FAKE = Experiment("fake", "Who waits for a sleeper?", "none", _never, lambda _s, _o: "", CONTROLS, _model)


def measure(name: str, *, progress: Callable[[float, str], None], stop: threading.Event, **controls: object) -> Run:
    """A Run in ten steps of 50 ms, each ended early by `stop`."""
    settings = FAKE.settle(controls)
    samples = []
    for index in range(10):
        if stop.wait(0.05):
            break
        progress(index / 10, f"{index} of 10 requests answered")
        sent, wait = 100 + 0.3 + 0.2 * index, _model(settings)["held_share"]
        done = max(sent + 0.01, 100 + float(settings["block_ms"]) / 1000 * wait)
        samples.append(Sample("fast", index, sent, sent, done, done, 200, "ok", f"loop-{index % 4 + 1}", None, None))
    return Run(
        experiment=name,
        settings=settings,
        in_force={"cpus": settings["cpus"]},
        runtime="embedded",
        live=True,
        machine={"cpus": 2},
        commit="",
        started_at="2026-01-01T00:00:00Z",
        duration_s=0.5,
        series={"fast": Series("fast", tuple(samples))},
        facts={},
        model=_model(settings),
        client={},
        line=f"{settings['k']} blockers: {len(samples)} answered",
        t0_s=100.0,
        partial=stop.is_set(),
    )
