"""Charts against the size of a pool: percentiles with threads below them, throughput under its ceiling.

Pools stand where their size is, on a logarithmic axis; virtual threads, which have no pool, stand right of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import log10
from typing import Any

from waitlab.charts.figure import new
from waitlab.charts.palette import DASHES, VOID, look
from waitlab.charts.traces import add_failed_counts, of_what, theory
from waitlab.predictions import main_series, show
from waitlab.runs import Run, Series

MARKS = {"p50": "circle", "p99": "triangle-up"}
LINES = {"ceiling": "ceiling (theory): pool / service time", "burst": "theory for this crowd, in whole waves"}
APART = 1.7
FEW = 2  # sizes that are better shown as bars


def against_pools(runs: Sequence[Run]) -> bool:
    """Whether these Runs differ in the size of their pool and in who serves, and in nothing that theory sees."""
    sizes = {run.settings.get("pool_size") for run in runs}
    curves = runs[0].model.get("curves")
    return len(sizes) > FEW and bool(curves) and all(run.model.get("curves") == curves for run in runs)


def percentiles(runs: Sequence[Run]) -> Any:
    """p50 and p99 of the crowd against the pool's size, theory's stairs, and below them the threads."""
    runs = _in_order(runs)
    places = _places(runs)
    figure = new("The crowd's wait, and the threads it takes", "pool size, threads", of_what(runs), height=560)
    _add_requests(figure, runs, places)
    for (name, line), dash in zip(_curves(runs, "percentiles"), DASHES, strict=False):
        figure.add_scatter(**theory(line, f"theory: {name}", "hv", dash))
    for name, shape in MARKS.items():
        values = [_value(run, main_series(run), f"{name}_ms") for run in runs]
        figure.add_scatter(**_points(runs, places, values, name, shape))
    add_failed_counts(figure, runs, places)
    _add_threads(figure, runs, places)
    figure.update_yaxes(rangemode="tozero", tickformat=",")
    figure.update_layout(yaxis={"domain": [0.42, 1]}, yaxis2={"domain": [0, 0.28]}, xaxis={"anchor": "y2"})
    return _name_places(figure, runs, places)


def throughput(runs: Sequence[Run]) -> Any:
    """What was served a second against the pool's size, under the ceiling and what whole waves leave of it."""
    runs = _in_order(runs)
    places = _places(runs)
    figure = new("Throughput, and its ceiling", "pool size, threads", "requests per second")
    for (name, line), dash in zip(_curves(runs, "throughput"), DASHES, strict=False):
        figure.add_scatter(**theory(line, LINES[name], "linear" if name == "ceiling" else "hv", dash))
    values = [_value(run, main_series(run), "throughput_per_s") for run in runs]
    figure.add_scatter(**_points(runs, places, values, "measured", "circle"))
    add_failed_counts(figure, runs, places)
    ticks = [step * 10**power for power in range(5) for step in (1, 2, 5)]
    figure.update_yaxes(type="log", tickmode="array", tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks])
    return _name_places(figure, runs, places)


def _in_order(runs: Sequence[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: (_virtual(run), run.settings["pool_size"]))


def _virtual(run: Run) -> bool:
    return bool(run.settings.get("threads") == "virtual")


def _places(runs: Sequence[Run]) -> list[float]:
    """Where each Run stands: at its pool's size, or right of the largest."""
    largest = max(float(run.settings["pool_size"]) for run in runs if not _virtual(run))
    return [largest * APART if _virtual(run) else float(run.settings["pool_size"]) for run in runs]


def _curves(runs: Sequence[Run], kind: str) -> Iterable[tuple[str, dict[str, list[float]]]]:
    """The model's lines of a kind, from the smallest to the largest pool that was measured."""
    sizes = sorted({float(run.settings["pool_size"]) for run in runs if not _virtual(run)})
    for name, line in runs[0].model["curves"].get(kind, {}).items():
        known = list(zip(line["x"], line["y"], strict=True))
        inside = [x for x, _ in known if sizes[0] < x < sizes[-1]]
        x = [sizes[0], *inside, sizes[-1]]
        yield name, {"x": x, "y": [_at(each, known, straight=name == "ceiling") for each in x]}


def _at(x: float, known: Sequence[tuple[float, float]], *, straight: bool) -> float:
    """A line's height at x: that of the point before it, or between two points on the way from one to the other."""
    place = bisect_right([point[0] for point in known], x)
    (x0, y0), after = known[max(place - 1, 0)], known[place : place + 1]
    if not straight or not after or x <= x0:
        return y0
    return y0 + (after[0][1] - y0) * (x - x0) / (after[0][0] - x0)


def _value(run: Run, series: Series | None, name: str) -> float | None:
    return None if run.void else getattr(series, name, None)


def _points(runs: Sequence[Run], places: Sequence[float], y: Sequence[Any], name: str, shape: str) -> dict[str, Any]:
    """Measurements as points, each in the colour of those who served."""
    colours = [VOID if run.void else look(run.settings).colour for run in runs]
    mark = {"symbol": shape, "size": 11, "color": colours, "line": {"width": 1, "color": "white"}}
    told = f"{name}: %{{y:,.0f}}<extra></extra>"
    return {"x": places, "y": y, "mode": "markers", "name": name, "marker": mark, "hovertemplate": told}


def _add_requests(figure: Any, runs: Sequence[Run], places: Sequence[float]) -> None:
    pairs = [(at, series) for at, run in zip(places, runs, strict=True) if (series := main_series(run))]
    raw = [(at, ms) for at, series in pairs for ms in series.latencies_ms]
    mark = {"color": "#9aa5b1", "size": 6, "symbol": "line-ew-open"}
    x, y, name = [at for at, _ in raw], [ms for _, ms in raw], f"all requests ({len(raw):,})"
    figure.add_scatter(x=x, y=y, mode="markers", name=name, hoverinfo="skip", marker=mark)


def _add_threads(figure: Any, runs: Sequence[Run], places: Sequence[float]) -> None:
    """The second panel: platform threads that the run added to the JVM's own, and the pool as a line."""
    sizes = next(line["x"] for _, line in _curves(runs, "percentiles"))
    pool = theory({"x": sizes, "y": sizes}, "the pool's size", "linear", "dashdot")
    figure.add_scatter(**pool, yaxis="y2")
    added = [_added(run) for run in runs]
    points = _points(runs, places, added, "platform threads added", "square")
    figure.add_scatter(**points, yaxis="y2")
    figure.update_layout(yaxis2={**figure.layout.yaxis.to_plotly_json(), "title": {"text": "threads"}})


def _added(run: Run) -> int | None:
    peak, baseline = (run.facts.get(f"platform_threads_{name}") for name in ("peak", "baseline"))
    return None if peak is None or baseline is None else int(peak) - int(baseline)


def _name_places(figure: Any, runs: Sequence[Run], places: Sequence[float]) -> Any:
    names = ["virtual" if _virtual(run) else show(place) for run, place in zip(runs, places, strict=True)]
    known = dict(zip(places, names, strict=True))
    ends = [log10(min(places) / 1.2), log10(max(places) * 1.2)]
    ticks = {"tickmode": "array", "tickvals": list(known), "ticktext": list(known.values())}
    figure.update_xaxes(type="log", range=ends, **ticks)
    return figure
