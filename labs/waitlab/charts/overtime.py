"""Charts of the WebClient lab along time: a pool's connections and who gave up; a breaker's states and the user's view.

Panels share the time axis. Red crosses are those who got nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log10
from typing import Any

from waitlab.charts.figure import dressed, new
from waitlab.charts.palette import (
    CORES,
    ERROR,
    INK,
    OFFLOADED,
    ON_THE_LOOP,
    QUIET,
    REACTIVE,
    THEORY,
    VIRTUAL,
    Look,
)
from waitlab.charts.tables import table
from waitlab.charts.traces import crosses, titled
from waitlab.charts.words import label
from waitlab.load.samples import OK
from waitlab.predictions import show
from waitlab.runs import Run

GAP = 0.09
TOGETHER_S = 0.1
TICKS = (1, 10, 100, 1000, 10_000)
_STATES = {"closed": REACTIVE, "open": OFFLOADED, "half-open": CORES}
_SOURCES: dict[tuple[str, bool], tuple[str, Look]] = {
    ("fresh", False): ("fresh", REACTIVE),
    ("stale", False): ("stale, after a time-out", ON_THE_LOOP),
    ("stale", True): ("stale, at once by the breaker", OFFLOADED),
}


def connections(runs: Sequence[Run]) -> Any:
    """A panel for each Run: connections taken, requests that wait for one, and in red those that gave up."""
    title = titled("The database's connections while the calls hang", runs)
    figure = new(title, "time since the start, s", "", height=200 + 190 * len(runs))
    room = (1 - GAP * (len(runs) - 1)) / len(runs)
    axis = figure.layout.yaxis.to_plotly_json()
    most = max(max([int(run.settings["jdbc_pool_size"]), *_pool(run)["waiting"]]) for run in runs)
    for index, run in enumerate(runs):
        name = "" if index == 0 else str(index + 1)
        top = 1 - index * (room + GAP)
        who = [label(run, runs).replace(", ", "<br>")] if len(runs) > 1 else []
        named = {"text": "<br>".join([*who, "connections, requests"]), "standoff": 10, "font": {"size": 12}}
        own = {**axis, "domain": [max(top - room, 0), top], "title": named, "range": [0, 1.12 * most]}
        figure.update_layout({f"yaxis{name}": own})
        for trace in _of_pool(run):
            figure.add_scatter(**trace, yaxis=f"y{name}", showlegend=index == 0, legendgroup=trace["name"])
    figure.update_layout(xaxis={"anchor": f"y{len(runs) if len(runs) > 1 else ''}", "rangemode": "tozero"})
    return figure


def _pool(run: Run) -> dict[str, list[Any]]:
    return run.facts.get("pool") or {"at_ms": [], "active": [], "waiting": [], "timeouts": []}


def _of_pool(run: Run) -> list[dict[str, Any]]:
    pool = _pool(run)
    at = [ms / 1000 for ms in pool["at_ms"]]
    size = int(run.settings["jdbc_pool_size"])
    gone = _gave_up(pool)
    step = {"shape": "hv", "width": 2}
    red = {"symbol": "x", "size": 11, "color": ERROR}
    return [
        {"x": at, "y": pool["active"], "name": "taken", "mode": "lines", "fill": "tozeroy",
         "line": {**step, "color": OFFLOADED.colour}},
        {"x": at, "y": pool["waiting"], "name": "waited for", "mode": "lines",
         "line": {**step, "color": ON_THE_LOOP.colour, "dash": "dot"}},
        {"x": at[:1] + at[-1:], "y": [size] * len(at[:1] + at[-1:]), "name": "pool size", "mode": "lines",
         "line": {"color": THEORY, "width": 2, "dash": "dash"}},
        {"x": [x for x, _, _ in gone], "y": [y for _, y, _ in gone], "text": [str(n) for _, _, n in gone],
         "name": "gave up, and how many", "mode": "markers+text", "marker": red, "textposition": "top right",
         "textfont": {"color": ERROR}, "cliponaxis": False},
    ]  # fmt: skip


def _gave_up(pool: Mapping[str, list[Any]]) -> list[tuple[float, int, int]]:
    """Who gave up, a tenth of a second together: when (s), how many waited just before, how many gave up."""
    found: list[tuple[float, int, int]] = []
    for i, (before, after) in enumerate(pairwise([0, *pool["timeouts"]])):
        if after > before:
            at_s, gone = pool["at_ms"][i] / 1000, after - before
            if found and at_s - found[-1][0] < TOGETHER_S:
                x, y, n = found.pop()
                found.append((x, y, n + gone))
            else:
                found.append((at_s, pool["waiting"][max(i - 1, 0)], gone))
    return found


def breaker(runs: Sequence[Run]) -> Any:
    """What each user sees and how late, the breaker's states, and how old the answer is."""
    run = runs[0]
    cache = "" if run.settings["stale_cache"] == "on" else ", no stale cache"
    title = f"What the user sees: API {run.settings['api']}, breaker {run.settings['breaker']}{cache}"
    figure = new(title, "time of sending, s", "", height=620)
    _add_answers(figure, run)
    _add_failed(figure, run)
    _add_states(figure, run)
    _add_ages(figure, run)
    _add_theory(figure, run)
    low = 0.44 if run.facts.get("states") else 0.36
    axis = figure.layout.yaxis.to_plotly_json()
    logarithmic = {"type": "log", "tickmode": "array", "tickvals": TICKS, "ticktext": [f"{n:,}" for n in TICKS]}
    logarithmic["range"] = [0, log10(TICKS[-1])]
    figure.update_layout(
        yaxis={**axis, "domain": [low, 1], "title": {"text": "answered after, ms", "standoff": 10}, **logarithmic},
        yaxis2={**axis, "domain": [0.32, 0.39], "type": "category", "showgrid": False, "title": {"text": ""}},
        yaxis3={
            **axis,
            "domain": [0, 0.27],
            "title": {"text": "age of board, s", "standoff": 10},
            "rangemode": "tozero",
        },
        xaxis={"anchor": "y3", "rangemode": "tozero"},
        barmode="overlay",
    )
    return figure


def _rows(run: Run) -> list[dict[str, Any]]:
    told = run.facts.get("answers") or {}
    return [dict(zip(told, row, strict=True)) for row in zip(*told.values(), strict=True)]


def _add_answers(figure: Any, run: Run) -> None:
    rows = _rows(run)
    for (source, refused), (name, style) in _SOURCES.items():
        own = [row for row in rows if (row["source"], row["refused"]) == (source, refused)]
        if own:
            mark = {"color": style.colour, "symbol": style.symbol, "size": 7}
            x, y = [row["at_ms"] / 1000 for row in own], [row["ms"] for row in own]
            figure.add_scatter(x=x, y=y, name=f"{name}: {len(own)}", mode="markers", marker=mark)


def _add_failed(figure: Any, run: Run) -> None:
    failed = [s for s in run.series["requests"].samples if s.cls != OK]
    if failed:
        at = [s.intended_s - run.t0_s for s in failed]
        told = [f"{s.cls} after {show(s.latency_ms, 'ms')}" for s in failed]
        figure.add_scatter(**crosses(at, [s.latency_ms for s in failed], f"no answer: {len(failed)}", told))


def _add_states(figure: Any, run: Run) -> None:
    """The breaker's states as bars; the last one lasts to the last request."""
    states = run.facts.get("states") or []
    last = max((s.done_s or s.intended_s for s in run.series["requests"].samples), default=run.t0_s) - run.t0_s
    begins = [one["at_ms"] / 1000 for one in states]
    ends = [*begins[1:], max([last, *begins])][: len(begins)]
    for name, style in _STATES.items():
        own = [(a, b) for one, a, b in zip(states, begins, ends, strict=True) if one["state"] == name]
        if own:
            figure.add_bar(
                orientation="h", yaxis="y2", y=["breaker"] * len(own), base=[a for a, _ in own],
                x=[b - a for a, b in own], name=f"breaker {name}", width=0.9, hovertemplate=_HOVER.format(name),
                marker={"color": style.colour, "pattern": dressed(style.pattern), "line": {"color": INK, "width": 0.5}},
            )  # fmt: skip


_HOVER = "{} from %{{base:.2f}} s for %{{x:.2f}} s<extra></extra>"


def _add_ages(figure: Any, run: Run) -> None:
    rows: list[Mapping[str, Any]] = [row for row in _rows(run) if row["age_ms"] is not None and row["source"] != "none"]
    mark = {"color": VIRTUAL.colour, "symbol": VIRTUAL.symbol, "size": 6, "line": {"color": QUIET, "width": 0.5}}
    x, y = [row["at_ms"] / 1000 for row in rows], [row["age_ms"] / 1000 for row in rows]
    figure.add_scatter(x=x, y=y, yaxis="y3", name="age of the board shown", mode="markers", marker=mark)


def _add_theory(figure: Any, run: Run) -> None:
    """Upright lines where theory opens the breaker and lets the first probes through."""
    moments = [("opens", run.model.get("opens_at_ms")), ("probes", run.model.get("half_open_at_ms"))]
    for (what, at_ms), dash in zip(moments, ("dash", "dot"), strict=True):
        if at_ms is not None:
            line = {"color": THEORY, "width": 2, "dash": dash}
            ends = {"x": [at_ms / 1000] * 2, "y": [TICKS[0], TICKS[-1]]}
            name = f"theory: {what} at {at_ms / 1000:.1f} s"
            figure.add_scatter(**ends, mode="lines", name=name, line=line, hoverinfo="name")


def told(_kind: str, runs: Sequence[Run]) -> tuple[list[str], str]:
    """What stands beside a figure: each Run's line, and its data."""
    return [f"{run.line}." for run in runs], table(*runs)
