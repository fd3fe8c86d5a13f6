"""Charts of a crowd on a few loops: the innocents in the order of their arrival, what each loop did, what the size of
the offload pool buys, and medians with their ranges beside published ones.

A block that holds a loop is red, with a hatching of its own; one that was moved has the colour of what was moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from waitlab.charts.bars import Bar, add_bars, natural, rows_in_order, tall
from waitlab.charts.figure import new
from waitlab.charts.palette import ERROR, GRID, INK, INNOCENT, OFFLOADED, PAPER, QUIET, THEORY, Look
from waitlab.charts.traces import curve, marker, of_what, theory, titled
from waitlab.charts.words import label, safe
from waitlab.load.samples import OK, Sample
from waitlab.predictions import main_series, show
from waitlab.published import ONE_PERCENT
from waitlab.runs import Run

BLOCK = Look(ERROR, "x", "x")
APART_S = 0.002
DOT = {"size": 4, "line": {"width": 0}}
CALLED = {"none": "none", "onloop": "on the loop"}
_HEADS = ("blocks", *(f"{what}, {where}" for what in ("req/s", "p50 ms", "p99 ms") for where in ("published", "here")))


def arrivals(runs: Sequence[Run]) -> Any:
    """Latency of each innocent in the order of arrival; of a single Run the hostages of a block stand out."""
    title = titled("The innocents, in the order of their arrival", runs)
    figure = new(title, "request, in the order of arrival", of_what(runs))
    for index, run in enumerate(runs):
        series = main_series(run)
        if series is None:
            continue
        block_ms = float(run.settings["block_ms"])
        held = [s for s in series.ok_samples if len(runs) == 1 and s.latency_ms > block_ms]
        mark = {**marker(run, index), **DOT}
        others = [s for s in series.ok_samples if len(runs) > 1 or s.latency_ms <= block_ms]
        name = label(run, runs) if len(runs) > 1 else f"innocents: {len(others):,} within one block"
        grey = mark if len(runs) > 1 else {**DOT, "color": INNOCENT, "symbol": "circle"}
        figure.add_scatter(**_dots(others, name, grey))
        if held:
            figure.add_scatter(**_dots(held, f"hostages: {len(held):,} waited longer than a block", mark))
    last = max(s.index for run in runs for series in run.series.values() for s in series.samples) + 1
    height = float(runs[0].settings["block_ms"])
    line = {"color": QUIET, "width": 1, "dash": "dot"}
    figure.add_scatter(x=[0, last], y=[height, height], mode="lines", name="one block", line=line, hoverinfo="name")
    figure.update_xaxes(rangemode="tozero", tickformat=",")
    figure.update_yaxes(rangemode="tozero", tickformat=",")
    return figure


def loops(runs: Sequence[Run]) -> Any:
    """What each thread did: innocents one after another as one grey bar, each block a bar of its own."""
    run = runs[0]
    worked = [s for series in run.series.values() for s in series.ok_samples if s.server_started_us is not None]
    threads = sorted({s.thread for s in worked}, key=natural)
    figure = new(titled("What each loop did", runs), "time since the start, s", "", height=tall(threads))
    calm: list[Bar] = []
    red: list[Bar] = []
    moved: list[Bar] = []
    for thread in threads:
        own = sorted((s for s in worked if s.thread == thread), key=lambda s: s.server_started_us or 0)
        calm += [_stretch(group, run.t0_s) for group in _groups(own)]
        blocks = [s for s in own if s.series == "blocking" and run.settings["where"] != "none"]
        target = red if run.settings["where"] == "onloop" else moved
        target += [_stretch([s], run.t0_s) for s in blocks]
    add_bars(figure, "innocents, one after another", calm, Look(INNOCENT, "circle", ""))
    add_bars(figure, f"{len(red)} blocks, each holding a loop", red, BLOCK)
    add_bars(figure, f"{len(moved)} blocks, moved off the loops", moved, OFFLOADED)
    return rows_in_order(figure, [safe(name) for name in reversed(threads)])


def offload(runs: Sequence[Run]) -> Any:
    """Throughput against the offload pool's size with the model's line, and below it what the innocents wait."""
    moved = [run for run in runs if run.settings["where"] == "offload"]
    figure = new("What a larger offload pool buys", "offload pool, threads", "requests per second", height=560)
    line = curve(moved[0].model, "offload") if moved else None
    sizes = [int(run.settings["offload_pool_size"]) for run in moved]
    if line:
        inside = [(x, y) for x, y in zip(line["x"], line["y"], strict=True) if min(sizes) <= x <= max(sizes)]
        figure.add_scatter(**theory({"x": [x for x, _ in inside], "y": [y for _, y in inside]}, "theory"))
    _add_baseline(figure, [run for run in runs if run.settings["where"] == "none"], sizes)
    mark = {"color": OFFLOADED.colour, "symbol": OFFLOADED.symbol, "size": 10}
    done = [run.facts["throughput_per_s"] for run in moved]
    figure.add_scatter(x=sizes, y=done, mode="markers", name="throughput, measured", marker=mark)
    for name, shape in (("p50", "circle-open"), ("p99", "triangle-up-open")):
        values = [getattr(main_series(run), f"{name}_ms", None) for run in moved]
        own = {"symbol": shape, "size": 10, "color": INNOCENT, "line": {"width": 2}}
        figure.add_scatter(x=sizes, y=values, mode="markers", name=f"{name} of the innocents", marker=own, yaxis="y2")
    axis = {**figure.layout.yaxis.to_plotly_json(), "rangemode": "tozero", "tickformat": ","}
    below = {**axis, "domain": [0, 0.3], "title": {"text": "innocents wait, ms"}}
    figure.update_layout(yaxis={**axis, "domain": [0.42, 1]}, yaxis2=below, xaxis={"anchor": "y2"})
    figure.update_xaxes(type="log", tickmode="array", tickvals=sorted(set(sizes)), ticktext=sorted(set(sizes)))
    return figure


def beside(runs: Sequence[Run]) -> Any:
    """Medians of repeated Runs with their ranges, beside the published medians; a row for each way of blocking."""
    rows = beside_rows(runs)
    figure = new("Measured here, beside what was published", "", "", height=190 + 46 * len(rows))
    look_of_all = {"align": "left", "line_color": GRID, "font_color": INK}
    figure.add_table(
        header={"values": [f"<b>{head}</b>" for head in _HEADS], "fill_color": GRID, "height": 46, **look_of_all},
        cells={"values": _broken(rows), "fill_color": PAPER, "height": 46, **look_of_all},
        columnwidth=[3, 5, 5, 3, 4, 3, 4],
    )
    figure.update_layout(margin={"l": 16, "b": 16})
    return figure


def beside_rows(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """The rows of `beside`: what was published, and median (lowest to highest) of the Runs of the same kind."""
    rows: list[tuple[str, ...]] = []
    for row in ONE_PERCENT:
        alike = [run for run in runs if _same(run, row.where, row.pool)]
        series = [own for run in alike if (own := main_series(run))]
        rows.append(
            (
                f"moved to {row.pool}" if row.pool else CALLED[row.where],
                f"{row.per_s:,} ({row.low:,} to {row.high:,})",
                spread([run.facts["throughput_per_s"] for run in alike]),
                str(row.p50_ms),
                spread([own.p50_ms or 0.0 for own in series]),
                str(row.p99_ms),
                spread([own.p99_ms or 0.0 for own in series]),
            )
        )
    return rows


def spread(values: Sequence[float]) -> str:
    """The median, and in brackets the lowest and the highest."""
    if not values:
        return "not measured"
    return f"{show(round(median(values)))} ({show(round(min(values)))} to {show(round(max(values)))})"


def _broken(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The columns, with each range on a line of its own."""
    return [[cell.replace(" (", "<br>(") for cell in column] for column in zip(*rows, strict=True)]


def _same(run: Run, where: str, pool: int | None) -> bool:
    return run.settings["where"] == where and pool in (None, run.settings["offload_pool_size"])


def _dots(samples: Sequence[Sample], name: str, mark: dict[str, Any]) -> dict[str, Any]:
    return {
        "x": [s.index + 1 for s in samples],
        "y": [round(s.latency_ms, 2) for s in samples],
        "text": [safe(s.thread) for s in samples],
        "name": name,
        "mode": "markers",
        "marker": mark,
        "hovertemplate": "request %{x:,}: %{y:,.1f} ms, on %{text}<extra></extra>",
    }


def _groups(own: Sequence[Sample]) -> Iterable[list[Sample]]:
    """The innocents of one thread, those together between which the thread did nothing else."""
    group: list[Sample] = []
    for sample in own:
        gap = ((sample.server_started_us or 0) - (group[-1].server_ended_us or 0)) / 1e6 if group else 0.0
        if sample.series != "normal" or gap > APART_S:
            if group:
                yield group
            group = []
        if sample.series == "normal" and sample.cls == OK:
            group.append(sample)
    if group:
        yield group


def _stretch(group: Sequence[Sample], t0_s: float) -> Bar:
    """One bar from the first's beginning to the last's end."""
    start, end = group[0].server_started_us or 0, group[-1].server_ended_us or 0
    said = f"{len(group)} innocents" if group[0].series == "normal" else f"request {group[0].index + 1:,}, a block"
    return Bar(safe(group[0].thread), start / 1e6 - t0_s, (end - start) / 1e6, said)


def _add_baseline(figure: Any, unblocked: Sequence[Run], sizes: Sequence[int]) -> None:
    """Where nothing blocks: the throughput that no pool can pass."""
    if unblocked and sizes:
        y = median(run.facts["throughput_per_s"] for run in unblocked)
        line = {"color": THEORY, "width": 1, "dash": "dot"}
        ends = [min(sizes), max(sizes)]
        figure.add_scatter(x=ends, y=[y, y], mode="lines", name="nothing blocks, measured", line=line)
