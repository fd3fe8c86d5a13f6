"""The figure of `explore`: the model's line follows the sliders, Runs drop their points into it.

All traces exist from the start and are filled by `batch_update`: nothing is redrawn that did not change, and
ten Runs are one figure. After `MOST_RUNS` the oldest Run makes room.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from plotly.graph_objects import FigureWidget

from waitlab.charts.figure import new
from waitlab.charts.traces import crosses, curve, failures, of_what, points, theory
from waitlab.charts.words import caption, label, safe
from waitlab.load.samples import OK, Sample
from waitlab.predictions import main_series, show
from waitlab.runs import Run, Series

__all__ = ["MOST_RUNS", "LiveFigure"]

MOST_RUNS = 12
MOST_POINTS = 1000
ALONG = {
    "latency": "time of sending, s since the start",
    "stairs": "request, counted from the fastest",
    "by_arrival": "request, in the order of arrival",
}


class LiveFigure:
    """One FigureWidget: trace 0 is the model, trace 1 the failures, then one trace a Run.

    `kind` is latency (against the time of sending), stairs (in ascending order) or by_arrival; else it is latency.
    """

    def __init__(self, title: str, kind: str = "latency") -> None:
        self.kind = kind if kind in ALONG else "latency"
        self.runs: list[Run] = []
        self._counted = 0
        self._lock = threading.RLock()
        self.widget: Any = new(title, ALONG[self.kind], "latency, ms", kind=FigureWidget)
        nothing: list[float] = []
        self.widget.add_scatter(**theory({"x": nothing, "y": nothing}, "theory for these sliders"))
        self.widget.add_scatter(**crosses(nothing, nothing, "failed"), visible=False)
        for _ in range(MOST_RUNS):
            self.widget.add_scatter(x=nothing, y=nothing, mode="markers", visible=False)
        self.widget.update_yaxes(rangemode="tozero", tickformat=",")
        self.widget.update_xaxes(tickformat=",")
        self.widget._config = {"responsive": True, "displaylogo": False}
        self.widget.update_layout(
            height=430,
            margin={"t": 56, "r": 16},
            legend={"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top", "font": {"size": 12}},
        )

    def show_model(self, model: Mapping[str, Any]) -> None:
        """Redraws the model's line; an experiment without a curve has none."""
        line = curve(model, self.kind) or {"x": [], "y": []}
        shape = "linear" if self.kind == "latency" else "hv"
        with self._lock, self.widget.batch_update():
            self.widget.data[0].update(x=line["x"], y=line["y"], line={"shape": shape}, visible=bool(line["x"]))

    def add(self, run: Run) -> None:
        """Drops a Run's points into the figure."""
        with self._lock:
            self._counted += 1
            self.runs = [*self.runs, run][-MOST_RUNS:]
            if main_series(run) is None:
                return
            with self.widget.batch_update():
                for number, each in enumerate(self.runs, self._counted - len(self.runs) + 1):
                    self.widget.data[2 + (number - 1) % MOST_RUNS].update(**self._trace(each, number))
                self.widget.layout.yaxis.title.text = of_what(self.runs)
                self._show_failures()

    def caption(self) -> list[str]:
        """The lines under the figure, about the last Run."""
        return caption(self.runs[-1:]) if self.runs else []

    def _trace(self, run: Run, number: int) -> dict[str, Any]:
        """The n-th Run: an open marker of its own, so that Runs on top of each other can be told apart."""
        series = main_series(run)
        if series is None:
            return {"visible": False}
        trace = points(run, series, "", number - 1) | self._along(series)
        shape = trace["marker"]["symbol"]
        shape = shape if "-open" in shape else f"{shape}-open"
        typical = f": p50 {show(series.p50_ms, 'ms')}" if series.ok and not run.void else ""
        trace["marker"] |= {"symbol": shape, "line": {"width": 2, "color": trace["marker"]["color"]}}
        return {**trace, "name": f"{number}: {label(run, self.runs)}{typical}", "visible": True}

    def _along(self, series: Series) -> dict[str, Any]:
        """Where the successes stand if it is not at their time of sending."""
        if self.kind == "latency":
            return {}
        if self.kind == "by_arrival":
            placed = [(s.index + 1, s) for s in sorted(series.ok_samples, key=lambda s: s.index)]
        else:
            placed = list(enumerate(sorted(series.ok_samples, key=lambda s: s.latency_ms), 1))
        shown = placed[:: max(1, len(placed) // MOST_POINTS)]
        told = {"text": [safe(s.thread) for _, s in shown], "hovertemplate": "%{y:,.1f} ms<br>%{text}<extra></extra>"}
        return {"x": [place for place, _ in shown], "y": [s.latency_ms for _, s in shown], **told}

    def _place(self, run: Run, series: Series, sample: Sample, nth: int) -> float:
        """Where the n-th failure of a Run stands: at its time of sending, or behind the successes."""
        if self.kind == "by_arrival":
            return sample.index + 1
        return sample.intended_s - run.t0_s if self.kind == "latency" else series.ok + nth

    def _show_failures(self) -> None:
        pairs = [(run, series) for run in self.runs if (series := main_series(run))]
        failed = [
            (run, sample, self._place(run, series, sample, nth))
            for run, series in pairs
            for nth, sample in enumerate((s for s in series.samples if s.cls != OK), 1)
        ]
        failed = failed[:: max(1, len(failed) // MOST_POINTS)]
        names = [failures(series) for _, series in pairs if series.errors]
        self.widget.data[1].update(
            x=[place for _, _, place in failed],
            y=[sample.latency_ms for _, sample, _ in failed],
            name=names[0] if len(names) == 1 else f"failed: {sum(s.offered - s.ok for _, s in pairs)}",
            text=[f"{sample.cls}, {label(run, self.runs)}" for run, sample, _ in failed],
            visible=bool(failed),
        )
