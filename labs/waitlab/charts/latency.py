"""Charts of latency: by the time of sending, in order of size, and percentiles against a control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from waitlab.charts import pools
from waitlab.charts.figure import new
from waitlab.charts.palette import DASHES, QUIET, VOID, look
from waitlab.charts.traces import (
    add_failed_counts,
    add_failures,
    add_theories,
    dense,
    marker,
    of_what,
    points,
    theory,
    titled,
)
from waitlab.charts.words import differing, label
from waitlab.errors import ControlError
from waitlab.load.samples import OK
from waitlab.predictions import main_series, show
from waitlab.runs import Run

PERCENTILES = {"p50": "circle", "p90": "diamond", "p99": "triangle-up", "max": "line-ew-open"}
WIDE = 20


def latency(runs: Sequence[Run]) -> Any:
    """Latency of the innocent against the time of sending, with the model's line."""
    figure = new(titled("Latency by the time of sending", runs), "time of sending, s since the start", of_what(runs))
    add_theories(figure, runs, "latency")
    for index, run in enumerate(runs):
        series = main_series(run)
        if series is not None:
            figure.add_scatter(**points(run, series, label(run, runs), index))
            add_failures(figure, series, [s.intended_s - run.t0_s for s in series.samples if s.cls != OK])
    if len(runs) == 1:
        _mark_percentiles(figure, runs[0])
    return _from_zero(figure)


def stairs(runs: Sequence[Run]) -> Any:
    """Latencies in ascending order, with the model's stairs behind them."""
    title = titled("Latencies in order, the fastest first", runs)
    figure = new(title, "request, counted from the fastest", of_what(runs))
    add_theories(figure, runs, "stairs", shape="hv")
    _add_floors(figure, runs)
    for index, run in enumerate(runs):
        series = main_series(run)
        if series is not None:
            figure.add_scatter(
                x=list(range(1, series.ok + 1)),
                y=series.latencies_ms,
                mode="markers",
                name=f"{label(run, runs)}: {series.ok} ok",
                marker={**marker(run, index), **dense(series.ok, index)},
            )
            add_failures(figure, series, range(series.ok + 1, series.offered + 1))
    figure.update_xaxes(rangemode="tozero", tickformat=",")
    return _from_zero(figure)


def percentiles(runs: Sequence[Run]) -> Any:
    """Percentiles of several Runs against the control they differ in, raw points behind, theory as lines."""
    if pools.against_pools(runs):
        return pools.percentiles(runs)
    control = _control(runs)
    runs = sorted(runs, key=lambda run: _value(run, control))
    x = [_value(run, control) for run in runs]
    figure = new(f"Latency against {control}", control, of_what(runs))
    _add_all_requests(figure, runs, control)
    for name, dash in zip(PERCENTILES, DASHES, strict=True):
        expected = [run.model.get(f"{name}_ms") for run in runs]
        if any(value is not None for value in expected):
            figure.add_scatter(**theory({"x": x, "y": expected}, f"theory: {name}", dash=dash))
    for name, shape in PERCENTILES.items():
        values = [None if run.void else getattr(main_series(run), f"{name}_ms", None) for run in runs]
        if any(value is not None for value in values):
            mark = {"symbol": shape, "size": 11, "color": look(runs[0].settings).colour, "line": {"width": 2}}
            figure.add_scatter(x=x, y=values, mode="markers", name=name, marker=mark)
    add_failed_counts(figure, runs, x)
    if x[0] > 0 and x[-1] / x[0] > WIDE:
        figure.update_xaxes(type="log", tickmode="array", tickvals=x, ticktext=[show(value) for value in x])
    return _from_zero(figure)


def _add_floors(figure: Any, runs: Sequence[Run]) -> None:
    """The same bursts without work, where they were measured: what of a latency is not the server's work."""
    floors = [floor for run in runs if (floor := run.series.get("floor")) and floor.ok]
    for number, floor in enumerate(floors):
        figure.add_scatter(
            x=list(range(1, floor.ok + 1)),
            y=floor.latencies_ms,
            mode="lines",
            name="floor: the same burst without work",
            showlegend=number == 0,
            line={"color": VOID, "width": 3},
        )


def _add_all_requests(figure: Any, runs: Sequence[Run], control: str) -> None:
    drawn = [(run, series) for run in runs if (series := main_series(run))]
    raw = [(_value(run, control), ms) for run, series in drawn for ms in series.latencies_ms]
    figure.add_scatter(
        x=[at for at, _ in raw],
        y=[ms for _, ms in raw],
        mode="markers",
        name=f"all requests ({len(raw):,})",
        hoverinfo="skip",
        marker={"color": "#9aa5b1", "size": 6, "symbol": "line-ew-open"},
    )


def _mark_percentiles(figure: Any, run: Run) -> None:
    """The median and the slowest as thin lines across the figure."""
    series = main_series(run)
    if series is None or not series.ok or run.void:
        return
    known = [(name, value) for name in PERCENTILES if (value := getattr(series, f"{name}_ms")) is not None]
    apart = known[-1][1] > 1.15 * known[0][1]
    last = max(sample.intended_s for sample in series.samples) - run.t0_s
    for name, value in [known[0], known[-1]] if apart else known[:1]:
        figure.add_scatter(
            x=[0, last * 1.02],
            y=[value, value],
            text=["", name],
            mode="lines+text",
            textposition="middle right",
            line={"color": QUIET, "width": 1, "dash": "dot"},
            showlegend=False,
            hoverinfo="skip",
            cliponaxis=False,
        )


def _from_zero(figure: Any) -> Any:
    figure.update_yaxes(rangemode="tozero", tickformat=",")
    return figure


def _control(runs: Sequence[Run]) -> str:
    """The number in which these Runs differ."""
    names = [n for n in differing(runs) if all(isinstance(run.settings.get(n), int | float) for run in runs)]
    if not names:
        raise ControlError(
            "A chart against a control needs Runs that differ in a number.", tip='chart(run, kind="latency")'
        )
    return names[0]


def _value(run: Run, control: str) -> float:
    return float(run.settings[control])
