"""The traces that charts are built of: points, crosses for failures, theory's lines, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

from waitlab.charts.palette import DASHES, ERROR, INNOCENT, THEORY, VOID, Look, look, symbol
from waitlab.charts.words import label, safe
from waitlab.load.samples import OK
from waitlab.predictions import main_series, show
from waitlab.runs import Run, Series

MANY = 150


def dense(count: int, index: int) -> dict[str, Any]:
    """How the markers of the n-th Run change where there are many: small, and every other Run paler."""
    return {"size": 5, "line": {"width": 0}, "opacity": (1, 0.35)[index % 2]} if count > MANY else {}


def marker(run: Run, index: int) -> dict[str, Any]:
    """How the measurements of the n-th Run of a figure are marked; a void Run is grey and open."""
    if run.void:
        return {"color": VOID, "symbol": "circle-open-dot", "size": 9}
    style = look(run.settings)
    shape = style.symbol if index == 0 else symbol(index - 1)
    return {"color": style.colour, "symbol": shape, "size": 10, "line": {"width": 1, "color": "white"}}


def points(run: Run, series: Series, name: str, index: int) -> dict[str, Any]:
    """The successes of a series as a trace: time of sending against latency."""
    ok = series.ok_samples
    typical = f", p50 {show(series.p50_ms, 'ms')}" if ok and not run.void else ""
    return {
        "x": [sample.intended_s - run.t0_s for sample in ok],
        "y": [sample.latency_ms for sample in ok],
        "text": [safe(sample.thread) for sample in ok],
        "name": f"{name}: {series.ok} ok{typical}",
        "mode": "markers",
        "marker": {**marker(run, index), **dense(len(ok), index)},
        "cliponaxis": False,
        "hovertemplate": "sent at %{x:.2f} s, took %{y:,.1f} ms<br>%{text}<extra></extra>",
    }


def crosses(x: Sequence[Any], y: Sequence[Any], name: str, texts: Sequence[str] = ()) -> dict[str, Any]:
    """Failures: red crosses, with their count in the name."""
    cross = {"symbol": "x", "size": 11 if len(x) <= MANY else 6, "color": ERROR}
    told = {"text": [safe(text) for text in texts], "hoverinfo": "text"} if texts else {}
    return {
        "x": list(x),
        "y": list(y),
        "name": name,
        "mode": "markers",
        "marker": cross,
        "cliponaxis": False,
        **told,
    }


def failures(series: Series) -> str:
    """The name of a series' failures: `failed: 2 timeout, 1 reset`."""
    kinds = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in series.errors.items())
    return f"failed: {kinds}"


def add_failures(figure: Any, series: Series, x: Sequence[float]) -> None:
    """The failures of a series at `x`, as high as they lasted."""
    failed = [sample for sample in series.samples if sample.cls != OK]
    if failed:
        told = [f"{sample.cls} after {show(sample.latency_ms, 'ms')}" for sample in failed]
        figure.add_scatter(**crosses(x, [sample.latency_ms for sample in failed], failures(series), told))


def add_failed_counts(figure: Any, runs: Sequence[Run], x: Sequence[Any], y: float = 0) -> None:
    """A cross at the height `y`, by default on the axis, below each Run that had failures."""
    pairs = [(at, main_series(run)) for at, run in zip(x, runs, strict=True)]
    failed = [(at, series.offered - series.ok) for at, series in pairs if series and series.ok < series.offered]
    if failed:
        told = [f"{count} failed" for _, count in failed]
        name = f"failed: {sum(count for _, count in failed)}"
        figure.add_scatter(**crosses([at for at, _ in failed], [y] * len(failed), name, told))


def by_powers(figure: Any) -> Any:
    """A logarithmic scale with 1, 2 and 5 of each power of ten, wide enough for small differences to look small."""
    ticks = [step * 10**power for power in range(6) for step in (1, 2, 5)]
    drawn = [y for trace in figure.data for y in trace.y if y]
    ends = [log10(min(drawn) / 2), log10(max(drawn) * 2)] if drawn else None
    named = {"tickmode": "array", "tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]}
    figure.update_yaxes(type="log", range=ends, **named)
    return figure


def theory(line: Mapping[str, Any], name: str, shape: str = "linear", dash: str = "dash") -> dict[str, Any]:
    """The model as a line that is not solid."""
    style = {"color": THEORY, "dash": dash, "width": 2, "shape": shape}
    return {"x": line["x"], "y": line["y"], "name": name, "mode": "lines", "line": style}


def add_theories(figure: Any, runs: Sequence[Run], kind: str, shape: str = "linear") -> None:
    """The models of these Runs, each once, in their kind of chart."""
    several = [(run, curve(run.model, kind)) for run in _distinct(runs)]
    known = [(run, line) for run, line in several if line is not None]
    for (run, line), dash in zip(known, DASHES * len(known), strict=False):
        name = "theory" if len(known) == 1 else f"theory: {label(run, runs)}"
        figure.add_scatter(**theory(line, name, shape, dash))


def curve(model: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    """The model's curve for a kind of chart: `curves[kind]`, `stairs`, `curve` or `line` ([[x, y], ...])."""
    found = (model.get("curves") or {}).get(kind) or model.get(kind)
    if found is None and kind == "latency":
        found = model.get("curve") or model.get("line")
    if isinstance(found, Mapping):
        return {"x": list(found["x"]), "y": list(found["y"])}
    return {"x": [point[0] for point in found], "y": [point[1] for point in found]} if found else None


def of_what(runs: Sequence[Run]) -> str:
    """The name of a latency axis: whose latency it is."""
    names = {series.name for run in runs if (series := main_series(run))}
    return f"latency of {safe(names.pop())}, ms" if len(names) == 1 else "latency, ms"


def innocent(run: Run, name: str) -> bool:
    """True for the series that only suffers (`fast` beside `block`)."""
    main = main_series(run)
    return main is not None and name == main.name and bool({"block", "blocking", "slow"} & set(run.series))


def dress(run: Run, name: str) -> Look:
    """How the bars of a series look: the innocents in plain grey, the others in their approach's colours."""
    return Look(INNOCENT, "circle", "") if innocent(run, name) else look(run.settings)


def titled(text: str, runs: Sequence[Run]) -> str:
    """A title; of a single Run it also names the approach."""
    return f"{text}: {label(runs[0], runs)}" if len(runs) == 1 else text


def _distinct(runs: Sequence[Run]) -> list[Run]:
    return list({str(sorted(run.model.items())): run for run in reversed(runs)}.values())[::-1]
