"""The chart of back-pressure: how many items wait before each stage of a chain, over time, one panel a Run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from waitlab.charts.figure import new
from waitlab.charts.palette import CORES, OFFLOADED, OTHER, REACTIVE, THEORY, Look
from waitlab.charts.words import safe
from waitlab.experiments.pressure import said
from waitlab.runs import Run

STAGES: dict[str, tuple[str, Look, str]] = {
    "door": ("at the door", OTHER, "dashdot"),
    "transform": ("for transform", OFFLOADED, "dash"),
    "batch": ("for their batch to fill", CORES, "dot"),
    "sink": ("for the sink", REACTIVE, "solid"),
}
"""Each queue in words, its colour, its dash."""
GAP, HEADING, POINTS = 0.14, 0.16, 60
"""Parts of a panel's height that stay empty below it and carry its heading; points of a line."""
BOUNDED_BY = {"gate": "gate", "request-n": "request_n", "drop": "buffer"}


def pressure(runs: Sequence[Run]) -> Any:
    """Queue lengths over time, a panel for each Run with its own scale, and the line that theory draws there."""
    figure = new("What the items wait for", "time since the start, s", "", height=150 + 160 * len(runs))
    axis = figure.layout.yaxis.to_plotly_json()
    used = [stage for stage in STAGES if any(max(run.facts["queue_by_stage"][stage]) for run in runs)]
    high = 1 / len(runs)
    for row, run in enumerate(runs):
        number, top = "" if row == 0 else str(row + 1), 1 - row * high
        bottom = 0.0 if row == len(runs) - 1 else top - high * (1 - GAP)
        place = {"domain": [bottom, top - HEADING * high], "rangemode": "tozero", "tickformat": ",", "nticks": 5}
        figure.update_layout({f"yaxis{number}": {**axis, **place, "title": {"text": "items", "standoff": 8}}})
        _add_panel(figure, run, used, f"y{number}", first=row == 0)
        _add_name(figure, run, top - HEADING * high)
    figure.update_layout(xaxis={"anchor": f"y{len(runs)}" if len(runs) > 1 else "y"})
    figure.update_xaxes(rangemode="tozero")
    return figure


def _add_panel(figure: Any, run: Run, used: Sequence[str], axis: str, *, first: bool) -> None:
    seen = run.facts["queue_by_stage"]
    for stage in used:
        name, look, dash = STAGES[stage]
        t_s, lengths = _longest(seen["t_s"], seen[stage])
        figure.add_scatter(
            x=t_s,
            y=lengths,
            mode="lines",
            name=name,
            legendgroup=stage,
            showlegend=first,
            line={"color": look.colour, "dash": dash, "width": 2},
            yaxis=axis,
            hovertemplate="%{y:,} items at %{x:.2f} s<extra>" + name + "</extra>",
        )
    line = _theory(run)
    style = {"color": THEORY, "width": 1.5, "dash": "longdashdot"}
    told = {"name": "theory", "legendgroup": "theory", "showlegend": first}
    figure.add_scatter(**line, mode="lines", line=style, yaxis=axis, hoverinfo="skip", **told)


def _longest(t_s: Sequence[float], lengths: Sequence[int]) -> tuple[list[float], list[int]]:
    """The longest of each stretch of looks, POINTS stretches at most."""
    step = max(1, -(-len(t_s) // POINTS))
    starts = range(0, len(t_s), step)
    return [t_s[at] for at in starts], [max(lengths[at : at + step]) for at in starts]


def _theory(run: Run) -> dict[str, list[float]]:
    """How the queue grows where nothing holds it; else how long the fullest can be."""
    lines = run.model["curves"]["pressure"]
    if lines:
        return max(lines.values(), key=lambda line: max(line["y"]))
    bound = float(run.settings[BOUNDED_BY[str(run.settings["control"])]])
    return {"x": [0.0, run.facts["queue_by_stage"]["t_s"][-1]], "y": [bound, bound]}


def _add_name(figure: Any, run: Run, top: float) -> None:
    """The panel's heading: the control, and the longest queue."""
    f = run.facts
    counted = f"{f['produced_per_s']:,.0f}/s produced, longest queue {max(f['queue_peak'].values()):,}"
    text = f"<b>{safe(said(run.settings))}</b>: {counted}"
    figure.add_annotation(
        text=text, x=0, y=top, xref="paper", yref="paper", xanchor="left", yanchor="bottom", showarrow=False
    )
