"""Charts of counts: requests by thread, throughput under its ceiling, and what was found, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from waitlab.charts import pools
from waitlab.charts.bars import dumped, natural, rows_in_order, tall
from waitlab.charts.figure import dressed, new
from waitlab.charts.palette import GRID, INK, PAPER, THEORY, VOID, look
from waitlab.charts.traces import add_failed_counts, crosses, dress, titled
from waitlab.charts.words import label, safe
from waitlab.predictions import main_series, show
from waitlab.runs import Run

FEW = 12


def threads(runs: Sequence[Run]) -> Any:
    """How many requests each thread served; open diamonds are the names found in a thread dump."""
    run = runs[0]
    in_dump = dumped(run)
    served = [name for series in run.series.values() for name in series.threads]
    names = sorted({*in_dump, *served}, key=natural)
    most = max([1, *(sum(s.threads.get(name, 0) for s in run.series.values()) for name in names)])
    figure = new(titled("Who served the requests", runs), "requests served", "", height=tall(names))
    _add_served(figure, run)
    failed = sum(series.offered - series.ok for series in run.series.values())
    if failed:
        figure.add_scatter(**crosses([0], ["no answer"], f"failed: {failed}"))
    if in_dump:
        figure.add_scatter(
            x=[-most * 0.025] * len(in_dump),
            y=[safe(name) for name in in_dump],
            mode="markers",
            name=f"in the thread dump ({len(in_dump)})",
            hoverinfo="y",
            cliponaxis=False,
            marker={"symbol": "diamond-open", "size": 11, "color": INK, "line": {"width": 2}},
        )
    figure.update_layout(barmode="stack", bargap=0.25)
    step = 1 if most < FEW else None
    figure.update_xaxes(range=[-most * 0.05, most * 1.04], tickformat=",d", tick0=0, dtick=step)
    return rows_in_order(figure, ["no answer"] * bool(failed) + [safe(name) for name in reversed(names)])


def throughput(runs: Sequence[Run]) -> Any:
    """Throughput of each Run under its ceiling; against the pool's size where that is what they differ in."""
    if pools.against_pools(runs):
        return pools.throughput(runs)
    figure = new(titled("Throughput, and its ceiling", runs), "", "requests per second")
    places = list(range(len(runs)))
    done = [getattr(main_series(run), "throughput_per_s", None) for run in runs]
    colours = [VOID if run.void else look(run.settings).colour for run in runs]
    patterns = ["/" if run.void else look(run.settings).pattern for run in runs]
    figure.add_bar(
        x=places, y=done, name="measured", width=0.5, marker={"color": colours, "pattern": dressed(patterns)}
    )
    top = [ceiling(run) for run in runs]
    if any(limit is not None for limit in top):
        figure.add_scatter(
            x=[place + side for place in places for side in (-0.32, 0.32, 0.33)],
            y=[y for limit in top for y in (limit, limit, None)],
            mode="lines",
            name="ceiling (theory)",
            line={"color": THEORY, "width": 2, "dash": "dash"},
        )
    add_failed_counts(figure, runs, places)
    ticks = [_tick(run, runs, value, limit) for run, value, limit in zip(runs, done, top, strict=True)]
    figure.update_xaxes(tickmode="array", tickvals=places, ticktext=ticks, tickangle=0)
    figure.update_yaxes(rangemode="tozero", tickformat=",")
    return figure


def rows(runs: Sequence[Run]) -> Any:
    """The rows an experiment found, as a table (where there are no requests to time)."""
    found = list(runs[0].facts.get("rows") or [])
    heads = list(dict.fromkeys(key for row in found for key in row))
    figure = new(titled("What was found", runs), "", "", height=130 + 29 * len(found))
    names = [f"<b>{safe(head.replace('_', ' '))}</b>" for head in heads]
    cells = [[safe(plain(row.get(head)), 80) for row in found] for head in heads]
    widest = [max(map(len, [head, *column])) + 4 for head, column in zip(heads, cells, strict=True)]
    look_of_all = {"align": "left", "line_color": GRID, "font_color": INK}
    figure.add_table(
        columnwidth=widest,
        header={"values": names, "fill_color": GRID, "height": 30, **look_of_all},
        cells={"values": cells, "fill_color": PAPER, "height": 28, **look_of_all},
    )
    figure.update_layout(margin={"l": 16, "b": 16})
    return figure


def plain(value: object) -> object:
    """A cell for people: yes, no, nothing."""
    return "" if value is None else ("no", "yes")[value] if isinstance(value, bool) else value


def ceiling(run: Run) -> float | None:
    """The throughput that theory allows, requests per second."""
    named = (told.get("ceiling_per_s") for told in (run.facts, run.model))
    return next((float(value) for value in named if value is not None), None)


def _add_served(figure: Any, run: Run) -> None:
    for series in run.series.values():
        if series.threads:
            style = dress(run, series.name)
            figure.add_bar(
                orientation="h",
                name=f"{series.name} ({series.ok} ok)",
                y=[safe(name) for name in series.threads],
                x=list(series.threads.values()),
                text=list(series.threads.values()),
                marker={"color": style.colour, "pattern": dressed(style.pattern)},
                textangle=0,
            )


def _tick(run: Run, runs: Sequence[Run], value: float | None, limit: float | None) -> str:
    return f"{label(run, runs).replace(', ', '<br>')}<br>{show(value)}{f' of {show(limit)}' if limit else ''} per s"
