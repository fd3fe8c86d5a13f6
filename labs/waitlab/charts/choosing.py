"""Charts of chapter 18: in flight and heap over time, latency in the order of arrival, what three ways at the door pay,
and computing on three kinds of crews. Several Runs share one scale; lines differ in markers and dashes too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from statistics import median
from typing import Any

from waitlab.charts.choosing_told import PAID, crews_of, told
from waitlab.charts.figure import dressed, new
from waitlab.charts.palette import DASHES, ERROR, INK, QUIET, look
from waitlab.charts.traces import add_theories, crosses, curve, marker, titled
from waitlab.charts.words import label
from waitlab.load.samples import OK, Sample
from waitlab.predictions import main_series, show
from waitlab.runs import Run

__all__ = ["by_arrival", "computing", "heap", "in_flight", "told", "valve"]

MOST_POINTS, FEW_POINTS = 1500, 40
MOST_CROSSES = 200
MARKS = 9
FEW = 2
NEAR_FULL = 0.3
FAR_APART = 50
"""From this ratio of the highest and the lowest peak on, a linear scale would lay the lowest on the axis."""
ENDS = {"out_of_memory": "out of memory", "wall_limit": "ended at the wall limit", "stopped": "stopped"}


def in_flight(runs: Sequence[Run]) -> Any:
    """Requests that own a live thread, over time."""
    figure = new(titled("Requests in flight", runs), "time since the start, s", "requests with a thread of their own")
    if len(runs) <= FEW:
        add_theories(figure, runs, "in_flight", "hv")
    for index, run in enumerate(runs):
        name = f"{label(run, runs)}: at most {run.facts['in_flight_peak']:,}"
        figure.add_scatter(**_over_time(run, index, "in_flight_over_time", name, "%{y:,} in flight at %{x:.2f} s"))
    _add_ends(figure, runs, "in_flight_over_time")
    _from_zero(figure)
    peaks = [run.facts["in_flight_peak"] for run in runs]
    if max(peaks) >= FAR_APART * max(min(peaks), 1):
        ticks = [step * 10**power for power in range(7) for step in (1, 2, 5)]
        ends = [log10(max(min(peaks), 1) / 5), log10(max(peaks) * 1.5)]
        scale = {"tickmode": "array", "tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks], "range": ends}
        figure.update_yaxes(type="log", **scale)
    return figure


def heap(runs: Sequence[Run]) -> Any:
    """Used heap over time; a large open mark is what was alive right after the one collection."""
    figure = new(titled("Used heap", runs), "time since the start, s", "heap, MB")
    for index, run in enumerate(runs):
        alive = run.facts["heap_peak_mb"]
        name = f"{label(run, runs)}: " + ("live heap unknown" if alive is None else f"{alive:,.1f} MB alive")
        figure.add_scatter(**_over_time(run, index, "heap_over_time", name, "%{y:,.1f} MB at %{x:.2f} s"))
    collected = [run for run in runs if run.facts["heap_peak_mb"] is not None]
    figure.add_scatter(
        x=[run.facts["collected_at_ms"] / 1000 for run in collected],
        y=[run.facts["heap_peak_mb"] for run in collected],
        mode="markers",
        name="alive, right after a collection",
        marker={"symbol": "diamond-wide-open", "size": 15, "color": INK, "line": {"width": 2}},
        cliponaxis=False,
        hovertemplate="%{y:,.1f} MB alive<extra></extra>",
    )
    _add_limit(figure, runs)
    _add_ends(figure, runs, "heap_over_time")
    return _from_zero(figure)


def by_arrival(runs: Sequence[Run]) -> Any:
    """Latency of those served in the order of their arrival, theory's line, and crosses for those who were not."""
    figure = new(titled("Latency, in the order of arrival", runs), "request, in the order of arrival", "latency, ms")
    if len(runs) <= len(DASHES):
        add_theories(figure, _unlike(runs), "by_arrival", "hv")
    for index, run in enumerate(runs):
        series = main_series(run)
        if series is not None:
            ok = sorted(series.ok_samples, key=lambda s: s.index)
            p99 = "" if series.p99_ms is None else f", p99 {show(series.p99_ms, 'ms')}"
            name = f"{label(run, runs)}: {series.ok:,} served{p99}"
            figure.add_scatter(**_dots(ok, name, marker(run, index), index / len(runs) if len(runs) > 1 else None))
    _add_unserved(figure, runs)
    return _from_zero(figure)


def valve(runs: Sequence[Run]) -> Any:
    """What each Run pays: memory, latency, refusals; one panel a price, one bar a Run."""
    figure = new("What each pays: memory, latency, refusals", "", "", height=170 + 64 * len(runs))
    names = [_broken(label(run, runs)) for run in runs]
    for panel, (title, price, form) in enumerate(PAID, 1):
        paid = [price(run) for run in runs]
        figure.add_bar(
            x=[value or 0 for value in paid],
            y=names,
            orientation="h",
            xaxis=f"x{panel}",
            name=title,
            showlegend=False,
            width=0.55,
            text=["unknown" if value is None else form.format(value) for value in paid],
            textposition="outside",
            cliponaxis=False,
            marker=_bars(runs, refused=panel == len(PAID)),
        )
        most = max([value or 0 for value in paid] + [0.001])
        _place(figure, panel, title, most)
    figure.update_yaxes(autorange="reversed", ticks="")
    figure.update_layout(bargap=0.3)
    return figure


def computing(runs: Sequence[Run]) -> Any:
    """How long the same computing took on each kind of crew: the median as a bar, each round as a mark."""
    figure = new("The same computing, on three kinds of crews", "", "time for all tasks, ms")
    crews = crews_of(runs)
    places = list(range(len(crews)))
    styles = [style for _, style, _ in crews]
    marks = {"color": [s.colour for s in styles], "pattern": dressed([s.pattern for s in styles])}
    figure.add_bar(
        x=places, y=[median(walls) for *_, walls in crews], name="median of the rounds", width=0.5, marker=marks
    )
    figure.add_scatter(
        x=[place for place, (*_, walls) in zip(places, crews, strict=True) for _ in walls],
        y=[ms for *_, walls in crews for ms in walls],
        mode="markers",
        name="each round",
        marker={"symbol": "circle-open", "size": 9, "color": INK, "line": {"width": 2}},
    )
    ticks = [f"{_broken(name)}<br>{median(walls):,.0f} ms" for name, _, walls in crews]
    figure.update_xaxes(tickmode="array", tickvals=places, ticktext=ticks)
    return _from_zero(figure)


def _over_time(run: Run, index: int, fact: str, name: str, hover: str) -> dict[str, Any]:
    """A fact over time as a line; some of its points carry the Run's marker."""
    seen = run.facts[fact]
    mark = {**marker(run, index), "maxdisplayed": MARKS}
    line = {"color": mark["color"], "width": 2, "dash": ("solid", *DASHES)[index % (len(DASHES) + 1)]}
    return {
        "x": [point["at_ms"] / 1000 for point in seen],
        "y": [point["value"] for point in seen],
        "mode": "lines+markers",
        "name": name,
        "marker": mark,
        "line": line,
        "hovertemplate": f"{hover}<extra></extra>",
    }


def _add_ends(figure: Any, runs: Sequence[Run], fact: str) -> None:
    """A red cross when a Run ended before its end, as high as it was seen last."""
    cut = [run for run in runs if run.facts["ended_by"] in ENDS and run.facts[fact]]
    if cut:
        last = [run.facts[fact][-1] for run in cut]
        names = [f"{ENDS[run.facts['ended_by']]} after {run.facts['wall_ms'] / 1000:,.1f} s" for run in cut]
        said = names[0] if len(cut) == 1 else f"did not come to their end: {len(cut)}"
        figure.add_scatter(
            **crosses([run.facts["wall_ms"] / 1000 for run in cut], [p["value"] for p in last], said, names)
        )


def _add_limit(figure: Any, runs: Sequence[Run]) -> None:
    """The heap's limit, where a Run comes near it or beyond."""
    highest = max((point["value"] for run in runs for point in run.facts["heap_over_time"]), default=0)
    limit = max(float(run.in_force["heap_max_mb"]) for run in runs)
    if highest > NEAR_FULL * limit or any(run.facts["ended_by"] == "out_of_memory" for run in runs):
        last = max(run.facts["wall_ms"] for run in runs) / 1000
        line = {"color": QUIET, "width": 2, "dash": "longdashdot"}
        figure.add_scatter(
            x=[0, last], y=[limit, limit], mode="lines", name=f"the heap's limit: {limit:,.0f} MB", line=line
        )


def _dots(samples: Sequence[Sample], name: str, mark: dict[str, Any], offset: float | None) -> dict[str, Any]:
    """Points of one Run; of several Runs few, each with an offset (a share of their distance), so that all are seen."""
    few = offset is not None
    shown = _thinned(samples, FEW_POINTS if few else MOST_POINTS, offset or 0.0)
    return {
        "x": [s.index + 1 for s in shown],
        "y": [round(s.latency_ms, 1) for s in shown],
        "name": name,
        "mode": "markers",
        "marker": mark if few else {**mark, "size": 5, "line": {"width": 0}},
        "cliponaxis": False,
        "hovertemplate": "request %{x:,}: %{y:,.1f} ms<extra></extra>",
    }


def _unlike(runs: Sequence[Run]) -> list[Run]:
    """Of Runs for which theory draws the same line, the first."""
    return list({str(curve(run.model, "by_arrival")): run for run in reversed(runs)}.values())[::-1]


def _add_unserved(figure: Any, runs: Sequence[Run]) -> None:
    """Crosses for those who were turned away, refused or lost, at the moment they learnt it."""
    failed = [(run, s) for run in runs for series in run.series.values() for s in series.samples if s.cls != OK]
    if failed:
        counted = [run.settings["requests"] - run.facts["served"] for run in runs]
        shown = _thinned(failed, MOST_CROSSES)
        texts = [f"{label(run, runs)}: request {s.index + 1:,} {s.cls}" for run, s in shown]
        name = f"not served: {sum(counted):,}"
        figure.add_scatter(**crosses([s.index + 1 for _, s in shown], [s.latency_ms for _, s in shown], name, texts))


def _thinned(items: Sequence[Any], most: int, offset: float = 0.0) -> Sequence[Any]:
    """About `most` of these, evenly chosen from an offset (a share of their distance) on, and always the last."""
    step = max(1, -(-len(items) // most))
    return [*items[int(offset * step) : len(items) - 1 : step], *items[-1:]]


def _place(figure: Any, panel: int, title: str, most: float) -> None:
    """Puts one of three panels side by side; what is written beside the bars needs room."""
    left = (panel - 1) / len(PAID)
    axis = figure.layout.xaxis.to_plotly_json() if panel == 1 else figure.layout.xaxis1.to_plotly_json()
    place = {"domain": [left + 0.02, left + 0.26], "range": [0, most * 1.45], "anchor": "y"}
    own = {**place, "nticks": 3, "tickformat": ",", "title": {"text": title, "standoff": 10}}
    figure.update_layout({f"xaxis{'' if panel == 1 else panel}": {**axis, **own}})


def _bars(runs: Sequence[Run], *, refused: bool) -> dict[str, Any]:
    styles = [look(run.settings) for run in runs]
    colours = [ERROR if refused else style.colour for style in styles]
    return {"color": colours, "pattern": dressed(["x" if refused else style.pattern for style in styles])}


def _broken(name: str) -> str:
    return name.replace(", ", "<br>")


def _from_zero(figure: Any) -> Any:
    figure.update_xaxes(rangemode="tozero", tickformat=",")
    figure.update_yaxes(rangemode="tozero", tickformat=",")
    return figure
