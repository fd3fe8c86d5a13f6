"""Charts: Runs and guesses in, one figure out, with its caption, its summary and its data table.

    chart -> bars     timeline, lanes                words    caption and summary
          -> latency  latency, stairs, percentiles   tables   the data, folded
          -> counts   threads, throughput, rows      palette  one colour and marker an approach
          -> pools    both against a pool's size
          -> crowds   arrivals, loops, offload, beside
          -> choosing in flight, heap, by arrival, valve, computing
          -> stacks   stacks, queues                chain    pressure
          -> webclient  states, clients, boundaries      overtime  connections, breaker
          -> figure   the dress, how it is shown     page     a figure as HTML for saved pages
             live     the figure of `explore`        traces   points, crosses, theory's lines

plotly is imported when a chart is first drawn; `warm_up` does it in the background.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from waitlab.charts.tables import table
from waitlab.errors import ControlError, WaitlabError
from waitlab.predictions import Prediction
from waitlab.runs import Run

if TYPE_CHECKING:
    from waitlab.charts.figure import Chart

__all__ = ["KINDS", "chart", "kind_for", "table", "warm_up"]

KINDS = {
    "timeline": "bars", "lanes": "bars",
    "latency": "latency", "stairs": "latency", "percentiles": "latency",
    "threads": "counts", "throughput": "counts", "rows": "counts",
    "arrivals": "crowds", "loops": "crowds", "offload": "crowds", "beside": "crowds",
    "in_flight": "choosing", "heap": "choosing", "by_arrival": "choosing", "valve": "choosing",
    "computing": "choosing",
    "stacks": "stacks", "queues": "stacks", "pressure": "chain",
    "states": "webclient", "clients": "webclient", "boundaries": "webclient",
    "connections": "overtime", "breaker": "overtime",
}  # fmt: skip
_ONE_RUN = ("timeline", "lanes", "threads", "rows", "loops", "breaker")


def chart(*runs_and_guesses: Run | Prediction, kind: str | None = None) -> Chart:
    """The figure of these Runs, with the reader's guesses marked in it.

    `kind` is one of KINDS; without it the experiment's own. Those in _ONE_RUN show one Run.
    """
    runs = [item for item in runs_and_guesses if isinstance(item, Run)]
    guesses = [item for item in runs_and_guesses if isinstance(item, Prediction)]
    wrong = [item for item in runs_and_guesses if not isinstance(item, Run | Prediction)]
    if wrong or not runs:
        found = f"{type(wrong[0]).__name__}: {wrong[0]!r}"[:100] if wrong else "no Run"
        raise ControlError("A chart is made of Runs and predictions.", found=found, tip='chart(run("bystander"))')
    chosen = kind or kind_for(runs)
    _check(chosen, runs)
    return _draw(chosen, runs, guesses)


def kind_for(runs: Sequence[Run]) -> str:
    """The kind of chart that suits these Runs: what their experiment names, else what their data allow."""
    if runs[0].facts.get("rows"):
        return "rows"
    try:
        from waitlab import experiments

        named = experiments.get(runs[0].experiment).drawn(runs[0].settings)
    except (WaitlabError, ImportError):
        named = "latency"
    return named if named in KINDS and not (len(runs) > 1 and named in _ONE_RUN) else "latency"


def warm_up() -> threading.Thread:
    """Imports plotly on a background thread, so that the first chart need not wait for it."""
    thread = threading.Thread(target=_import_quietly, name="waitlab-warm-up", daemon=True)
    thread.start()
    return thread


def _import_quietly() -> None:
    """What fails here fails again, and is told, where the reader first draws."""
    with contextlib.suppress(Exception):
        _import()


def _import() -> None:
    """Everything that a first chart and a first `explore` import, and one empty figure."""
    figure = importlib.import_module("waitlab.charts.figure")
    empty = figure.new("", "", "")
    empty.add_scatter(x=[0], y=[0])
    empty.add_bar(x=[0], y=[0])
    importlib.import_module("waitlab.charts.page").packed()
    for name in ("charts.bars", "charts.counts", "charts.latency", "charts.live", "widgets.knobs", "widgets.panel"):
        importlib.import_module(f"waitlab.{name}")


def _check(kind: str, runs: Sequence[Run]) -> None:
    if kind not in KINDS:
        raise ControlError(f"There is no chart of the kind {kind!r}.", tip=", ".join(KINDS))
    if kind in _ONE_RUN and len(runs) > 1:
        raise ControlError(f"A chart of the kind {kind} shows one Run, not {len(runs)}.", tip='kind="latency"')
    if {run.experiment for run in runs} != {runs[0].experiment} and kind != "throughput":
        raise ControlError(
            "One chart shows Runs of one experiment.",
            found=", ".join(sorted({run.experiment for run in runs})),
            tip="a chart each",
        )


def _draw(kind: str, runs: list[Run], guesses: list[Prediction]) -> Chart:
    figure_module = importlib.import_module("waitlab.charts.figure")
    words = importlib.import_module("waitlab.charts.words")
    module = importlib.import_module(f"waitlab.charts.{KINDS[kind]}")
    figure = getattr(module, kind)(runs)
    mark = importlib.import_module("waitlab.charts.guesses").mark
    for guess in guesses:
        mark(figure, kind, guess)
    figure_module.finish(figure)
    title = figure.layout.title.text
    lines = words.caption(runs, guesses, words.remarks(kind, runs))
    own = getattr(module, "told", None)
    sentences, data = own(kind, runs) if own else ([], table(*runs))
    said = words.summary(title, runs, words.theory(runs), sentences)
    return figure_module.say(figure, said, lines, data)
