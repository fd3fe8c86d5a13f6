"""From an experiment and its settings to a Run: the one place where a measurement is put together."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from waitlab.controls import Value
from waitlab.experiments.base import Bench, Experiment, Outcome, Progress
from waitlab.experiments.compared import series_facts
from waitlab.experiments.serving import NO_CLIENT
from waitlab.paths import ROOT
from waitlab.runs import Run, Series

if TYPE_CHECKING:
    from waitlab.services import Lab

AGAIN = "the same run once more; what has ended is started anew"


def measure(
    experiment: Experiment,
    settings: Mapping[str, Value],
    lab: Lab,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Run:
    """Measures once on the lab's servers; a stopped measurement gives a Run marked partial."""
    bench = Bench(lab, progress or (lambda share, text: None), stop or threading.Event())
    started_at, start = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    outcome = experiment.measure(bench, settings)
    model, series = experiment.model(settings), _series(experiment, outcome)
    return Run(
        experiment=experiment.name,
        settings=dict(settings),
        in_force=outcome.in_force,
        runtime=lab.runtime,
        live=True,
        machine=lab.machine(),
        commit=commit(),
        started_at=started_at,
        duration_s=time.monotonic() - start,
        series=series,
        facts={**series_facts(model, series, outcome.t0_s), **outcome.facts},
        model=model,
        client={**NO_CLIENT, **outcome.client},
        line=_line(experiment, settings, outcome),
        t0_s=outcome.t0_s,
        partial=outcome.partial,
        notes=outcome.notes,
    )


def _series(experiment: Experiment, outcome: Outcome) -> dict[str, Series]:
    """Every series of the experiment, also those without a request, and in the order of sending."""
    ordered = sorted(outcome.samples, key=lambda s: (s.intended_s, s.index))
    return {name: Series(name, tuple(s for s in ordered if s.series == name)) for name in experiment.series}


def _line(experiment: Experiment, settings: Mapping[str, Value], outcome: Outcome) -> str:
    marks: list[str] = [*outcome.notes]
    if outcome.partial:
        marks.append("stopped before its end")
    if "server_died" in outcome.facts:
        marks.append(f"{outcome.facts['server_died']} after {outcome.facts['server_died_ms']:,.0f} ms")
        marks.append(f"Try: {AGAIN}")
    elif outcome.client.get("saturated") and not outcome.partial:
        marks.append(outcome.client.get("why") or "Void: the client was the bottleneck.")
    return "; ".join([experiment.line(settings, outcome), *marks])


@cache
def commit() -> str:
    """The project's commit, with + where files differ from it; "" outside git."""
    try:
        asked = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+"]
        told: Any = subprocess.run(asked, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""
