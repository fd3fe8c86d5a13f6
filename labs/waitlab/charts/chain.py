"""The chart of back-pressure: how many items wait before each stage of a chain, over time, one panel a stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from waitlab.charts.figure import new
from waitlab.charts.palette import OFFLOADED, ON_THE_LOOP, OTHER, REACTIVE, THEORY, VIRTUAL, Look
from waitlab.charts.words import safe
from waitlab.experiments.pressure import STAGES, said
from waitlab.runs import Run

LOOKS: dict[str, tuple[Look, str]] = {
    "none": (ON_THE_LOOP, "solid"),
    "gate": (VIRTUAL, "dash"),
    "request-n": (REACTIVE, "dot"),
    "drop": (OFFLOADED, "dashdot"),
}
"""The colour and the dash of each control's line."""
GAP = 0.07


def pressure(runs: Sequence[Run]) -> Any:
    """Queue length before each stage over time, a line for each Run; of a single Run also what bounds it."""
    stages = [stage for stage in STAGES if any(max(run.facts["queue_by_stage"][stage]) for run in runs)] or ["sink"]
    figure = new("Who waits where in the chain", "time since the start, s", "", height=150 + 150 * len(stages))
    axis = figure.layout.yaxis.to_plotly_json()
    high = (1 - GAP * (len(stages) - 1)) / len(stages)
    for row, stage in enumerate(stages):
        top = 1 - row * (high + GAP)
        named = {"title": {"text": f"{'at the' if stage == 'door' else 'before'}<br>{stage}", "standoff": 10}}
        place = {"domain": [max(0.0, top - high), top], "rangemode": "tozero", "tickformat": ",", "nticks": 5}
        figure.update_layout({"yaxis" + ("" if row == 0 else str(row + 1)): {**axis, **named, **place}})
        _add_panel(figure, runs, stage, "y" + ("" if row == 0 else str(row + 1)), first=row == 0)
    figure.update_layout(xaxis={"anchor": "y" + ("" if len(stages) == 1 else str(len(stages)))})
    figure.update_xaxes(rangemode="tozero")
    return figure


def _add_panel(figure: Any, runs: Sequence[Run], stage: str, axis: str, *, first: bool) -> None:
    for run in runs:
        look, dash = LOOKS.get(str(run.settings["control"]), (OTHER, "solid"))
        seen = run.facts["queue_by_stage"]
        figure.add_scatter(
            x=seen["t_s"],
            y=seen[stage],
            mode="lines",
            name=safe(said(run.settings)),
            legendgroup=said(run.settings),
            showlegend=first,
            line={"color": look.colour, "dash": dash, "width": 2, "shape": "hv"},
            yaxis=axis,
            hovertemplate="%{y:,} items at %{x:.2f} s<extra>" + safe(said(run.settings)) + "</extra>",
        )
    _add_theory(figure, runs, stage, axis, first=first)


def _add_theory(figure: Any, runs: Sequence[Run], stage: str, axis: str, *, first: bool) -> None:
    """What the model says: how an uncontrolled queue grows, or, of a single Run, how long a queue can be."""
    style = {"color": THEORY, "width": 1.5, "dash": "longdashdot"}
    free = next((run for run in runs if run.model["curves"]["pressure"]), None)
    grows = free.model["curves"]["pressure"].get(stage) if free else None
    if grows:
        figure.add_scatter(**grows, mode="lines", name="theory", legendgroup="theory", showlegend=first, line=style, yaxis=axis)
        return
    bound = runs[0].model["queue_at_most"].get(stage) if len(runs) == 1 else None
    if bound is not None:
        x = [0, runs[0].facts["queue_by_stage"]["t_s"][-1]]
        told = {"name": "theory: at most", "legendgroup": "theory", "showlegend": first}
        figure.add_scatter(x=x, y=[bound, bound], mode="lines", line=style, yaxis=axis, hoverinfo="name", **told)
