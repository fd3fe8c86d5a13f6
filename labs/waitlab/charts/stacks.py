"""Charts of four stacks under one load: latency against the offered rate, and where the requests of each Run wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from waitlab import models_stacks as models
from waitlab.charts.figure import dressed, new
from waitlab.charts.palette import DASHES, INK, OFFLOADED, PLATFORM, QUIET, THEORY, VOID, Look, look, symbol
from waitlab.charts.traces import add_failed_counts, by_powers, of_what, theory
from waitlab.charts.words import label, safe
from waitlab.predictions import main_series, show
from waitlab.runs import Run

NAMES = {
    "mvc-platform": "platform threads",
    "mvc-virtual": "virtual threads",
    "webflux-jdbc-offloaded": "JDBC offloaded",
    "webflux-r2dbc": "R2DBC",
}
PLACES = {
    "accept": ("waits to be accepted", Look("#b8860b", "", "+")),
    "workers": ("waits for a worker", Look(PLATFORM.colour, "", "x")),
    "scheduler": ("waits in the scheduler", Look(OFFLOADED.colour, "", "\\")),
    "connections": ("waits for a connection", Look("#a34a00", "", "/")),
    "elsewhere": ("elsewhere: network, processors", Look(QUIET, "", ".")),
    "served": ("has a connection: the query", Look(THEORY, "", "")),
}
SHIFT = 0.006
"""Points of different stacks at one rate stand this share of the axis apart, or they would hide each other."""
LOWEST_MS = 1  # where the crosses of failures stand: a logarithmic scale has no zero
LEAST_SHARE = 0.07
"""Parts of a bar from this share of the longest bar on carry their figure."""


def stacks(runs: Sequence[Run]) -> Any:
    """p50 and p99 against the offered rate, a curve for each stack, with the knee and the limit that was hit there.

    Several Runs at one rate stand side by side instead.
    """
    if len(runs) > 1 and len({run.settings["rate_per_s"] for run in runs}) == 1:
        return _at_one_rate(runs)
    figure = new("Latency against the offered load", "offered, requests/s", of_what(runs), height=520)
    groups = _groups(runs)
    widest = max(float(run.settings["rate_per_s"]) for run in runs)
    _add_theories(figure, groups, widest)
    for index, (name, own) in enumerate(groups.items()):
        before = sum(one[0].settings["stack"] == own[0].settings["stack"] for one in list(groups.values())[:index])
        _add_curves(figure, name, own, (index - (len(groups) - 1) / 2) * SHIFT * widest, before)
    dotted = {"color": QUIET, "dash": "dot", "width": 1}
    figure.add_scatter(x=[None], y=[None], mode="lines", name="dotted, open marks: p99", line=dotted)
    void = [run for run in runs if run.void]
    _add_void(figure, void, [float(run.settings["rate_per_s"]) for run in void])
    add_failed_counts(figure, runs, [float(run.settings["rate_per_s"]) for run in runs], LOWEST_MS)
    figure.update_xaxes(rangemode="tozero", tickformat=",")
    return by_powers(figure)


def queues(runs: Sequence[Run]) -> Any:
    """One bar a Run: how long a request waited on average in each queue, and how long its query took."""
    figure = new("Where the requests wait", "mean time of a request, ms", "", height=170 + 46 * len(runs))
    rows = [_row(run, runs) for run in runs]
    parts = [_parts(run) for run in runs]
    longest = max((sum(part.values()) for part in parts), default=0.0)
    for place, (said, style) in PLACES.items():
        values = [part.get(place, 0.0) for part in parts]
        if any(values):
            figure.add_bar(
                x=values,
                y=rows,
                orientation="h",
                name=said,
                marker={"color": style.colour, "pattern": dressed(style.pattern)},
                text=[f"{show(round(ms))}" if ms > LEAST_SHARE * longest else "" for ms in values],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": "white", "size": 13},
                hovertext=[_told(run, place, ms) for run, ms in zip(runs, values, strict=True)],
                hoverinfo="text",
            )
    _add_limits(figure, rows, [sum(part.values()) for part in parts], runs)
    figure.update_layout(barmode="stack", bargap=0.35, legend={"traceorder": "normal"})
    figure.update_xaxes(rangemode="tozero", tickformat=",", range=[0, longest * 1.25 or 1])
    figure.update_yaxes(categoryorder="array", categoryarray=rows[::-1], showgrid=False)
    return figure


# -- stacks ------------------------------------------------------------------------------------------------------


def _groups(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The Runs of each curve by its name: the stack, and its pools where they differ among these Runs."""
    found: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda one: float(one.settings["rate_per_s"])):
        found.setdefault(_curve_name(run, runs), []).append(run)
    return found


def _curve_name(run: Run, runs: Sequence[Run]) -> str:
    stack = str(run.settings["stack"])
    told = [
        f"{run.settings[control]} {word}"
        for control, word in ((models.CONNECTIONS[stack], "connections"), (models.THREADS.get(stack, ""), "threads"))
        if control and len({one.settings[control] for one in runs}) > 1
    ]
    return ", ".join([NAMES[stack], *told])


def _add_curves(figure: Any, name: str, own: Sequence[Run], shift: float, before: int) -> None:
    """p50 as a line, p99 dotted above it; `before` curves of the same stack have taken its mark and others."""
    style = look(own[0].settings)
    shape = symbol(before - 1).removesuffix("-open") if before else style.symbol
    rates = sorted({float(run.settings["rate_per_s"]) for run in own})
    for which, dash, mark, width in (("p50", "solid", shape, 2), ("p99", "dot", f"{shape}-open", 1)):
        lines = {rate: _values(own, rate, which) for rate in rates}
        drawn = {rate: median(found) for rate, found in lines.items() if found}
        figure.add_scatter(
            x=[rate + shift for rate in drawn],
            y=list(drawn.values()),
            mode="lines+markers",
            name=_said(name, own) if which == "p50" else f"{name}: p99",
            line={"color": style.colour, "dash": dash, "width": width},
            marker={"symbol": mark, "size": 10, "color": style.colour},
            showlegend=which == "p50",
            text=[f"{rate:g} req/s" for rate in drawn],
            hovertemplate=f"{name}: {which} %{{y:,.1f}} ms at %{{text}}<extra></extra>",
        )


def _values(own: Sequence[Run], rate: Any, which: str) -> list[float]:
    alike = [run for run in own if float(run.settings["rate_per_s"]) == rate and not run.void]
    found = [getattr(main_series(run), f"{which}_ms", None) for run in alike]
    return [value for value in found if value is not None]


def _add_void(figure: Any, void: Sequence[Run], x: Sequence[Any]) -> None:
    """Where the client was the bottleneck: grey, and on no line."""
    if void:
        y = [getattr(main_series(run), "p50_ms", None) for run in void]
        mark = {"symbol": "circle-open-dot", "size": 9, "color": VOID}
        figure.add_scatter(x=list(x), y=y, mode="markers", name=f"void: {len(void)}, the client was late", marker=mark)


def _at_one_rate(runs: Sequence[Run]) -> Any:
    """p50 and p99 of Runs at one rate, a place for each, with theory's p50 and the limit that each hit."""
    figure = new(f"Latency at {runs[0].settings['rate_per_s']:g} requests/s", "", of_what(runs))
    names = [f"{_row(run, runs)}<br>first limit: {safe(run.facts.get('first_limit', ''))}" for run in runs]
    pairs = list(zip(names, runs, strict=True))
    expected = {"x": names, "y": [run.model["p50_ms"] for run in runs]}
    figure.add_scatter(**theory(expected, "theory: p50"))
    for which, shape, side in (("p50", "", "bottom right"), ("p99", "-open", "top right")):
        known = [(name, run, _values([run], run.settings["rate_per_s"], which)) for name, run in pairs]
        drawn = [(name, look(run.settings), found[0]) for name, run, found in known if found]
        x, y = [name for name, *_ in drawn], [ms for *_, ms in drawn]
        dress = {"symbol": [s.symbol + shape for _, s, _ in drawn], "color": [s.colour for _, s, _ in drawn]}
        texts = {"text": [f"  {show(ms)} ms" for ms in y], "textposition": side, "hoverinfo": "text"}
        texts |= {"mode": "markers+text", "name": f"{which}, {'open' if shape else 'filled'} marks"}
        figure.add_scatter(x=x, y=y, marker={**dress, "size": 11}, **texts)
    _add_void(figure, [run for run in runs if run.void], [name for name, run in pairs if run.void])
    add_failed_counts(figure, runs, names, LOWEST_MS)
    figure.update_xaxes(range=[-0.4, len(runs) - 0.4])
    return by_powers(figure)


def _said(name: str, own: Sequence[Run]) -> str:
    """A curve's name, with the limit that was hit first and from which rate on."""
    hit = [run for run in own if not run.void and run.facts.get("first_limit") not in ("none", "unknown", None)]
    said = f"{hit[0].facts['first_limit']} from {hit[0].settings['rate_per_s']:g}/s" if hit else "no limit hit"
    return f"{name}: {said}"


def _add_theories(figure: Any, groups: Mapping[str, Sequence[Run]], widest: float) -> None:
    """The model's p50 and its knee, once for each knee."""
    by_knee = {own[0].model["knee_per_s"]: own[0].model for own in groups.values()}
    for (knee, model), dash in zip(by_knee.items(), DASHES * len(by_knee), strict=False):
        line = model["curves"]["stacks"]
        points = [(x, y) for x, y in zip(line["x"], line["y"], strict=True) if x <= widest * 1.05]
        drawn = {"x": [x for x, _ in points], "y": [y for _, y in points]}
        name = "theory: p50" if len(by_knee) == 1 else f"theory: p50, knee {show(knee)}/s"
        figure.add_scatter(**theory(drawn, name, dash=dash))
        if knee <= widest:
            _add_knee(figure, knee, drawn["y"])


def _add_knee(figure: Any, knee: float, heights: Sequence[float]) -> None:
    figure.add_scatter(
        x=[knee, knee],
        y=[min(heights) / 2, max(heights) * 2],
        mode="lines+text",
        line={"color": QUIET, "width": 1, "dash": "dot"},
        text=[f" knee: {show(knee)}/s", ""],
        textposition="top right",
        textfont={"color": INK},
        showlegend=False,
        hoverinfo="skip",
    )


# -- queues ------------------------------------------------------------------------------------------------------


def _row(run: Run, runs: Sequence[Run]) -> str:
    """The name of a Run's bar."""
    name = _curve_name(run, runs)
    rates = {one.settings["rate_per_s"] for one in runs}
    rated = f"{name}, {run.settings['rate_per_s']:g}/s" if len(rates) > 1 or len(runs) == 1 else name
    alike = [one for one in runs if one.settings == run.settings]
    again = f" ({alike.index(run) + 1})" if len(alike) > 1 else ""
    return safe(rated + again)


def _parts(run: Run) -> dict[str, float]:
    """Mean times in ms by place; of a Run that was not watched, nothing."""
    known = {place: found["wait_ms"] or 0.0 for place, found in (run.facts.get("queues") or {}).items() if found}
    held = (run.facts.get("in_service") or {}).get("connections", {}).get("held_ms")
    return {**known, "served": held} if held else known


def _told(run: Run, place: str, ms: float) -> str:
    said = PLACES[place][0]
    found = (run.facts.get("queues") or {}).get(place)
    lengths = f"; {show(found['p50'])} in the median look, {show(found['peak'])} at most" if found else ""
    return f"{said}: {show(round(ms, 1))} ms{lengths}"


def _add_limits(figure: Any, rows: Sequence[str], ends: Sequence[float], runs: Sequence[Run]) -> None:
    """Right of each bar, the limit that was hit first."""
    figure.add_scatter(
        x=list(ends),
        y=list(rows),
        mode="text",
        text=[f"  {safe(run.facts.get('first_limit', ''))}{' (void)' * run.void}" for run in runs],
        textposition="middle right",
        textfont={"color": INK, "size": 13},
        name="first limit",
        showlegend=False,
        hovertext=[f"{label(run, runs)}: {safe(run.facts.get('why', ''), 200)}" for run in runs],
        hoverinfo="text",
        cliponaxis=False,
    )
