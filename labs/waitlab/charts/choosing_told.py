"""What chapter 18's charts are made of, and the same in words and as a table beside each figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from waitlab.charts.palette import APPROACHES, OTHER, Look, look
from waitlab.charts.tables import html_table
from waitlab.charts.words import label
from waitlab.predictions import main_series, show
from waitlab.runs import Run, percentile

Rows = list[Sequence[object]]

WAYS = {"cores": "a thread a core", "fixed": "{pool_size:,} threads", "virtual": "a virtual thread each"}
MOMENTS = 20
SHARES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)


def told(kind: str, runs: Sequence[Run]) -> tuple[list[str], str]:
    """What stands beside a figure: a sentence a Run, and what was drawn as a folded table."""
    heads, rows = _ROWS[kind](runs)
    inside = html_table(heads, rows, f"{len(rows)} rows")
    return [f"{run.line}." for run in runs], f"<details><summary>Data of the figure</summary>{inside}</details>"


def crews_of(runs: Sequence[Run]) -> list[tuple[str, Look, list[float]]]:
    """Of one Run all its ways, of several the way that each was asked for: name, look, walls in ms."""
    if len(runs) > 1:
        return [(label(run, runs), look(run.settings), run.facts["wall_ms_each"]) for run in runs]
    found = runs[0].facts["walls_each_by_way"]
    return [(WAYS[way].format(**runs[0].settings), APPROACHES.get(way, OTHER), walls) for way, walls in found.items()]


def _alive_mb(run: Run) -> float | None:
    return run.facts["heap_peak_mb"]


def _p99_s(run: Run) -> float | None:
    """The slowest, where there are too few for a p99."""
    series = main_series(run)
    ms = None if series is None else series.p99_ms or series.max_ms
    return None if ms is None else ms / 1000


def _unserved(run: Run) -> float | None:
    return float(run.settings["requests"]) - float(run.facts["served"])


PAID: tuple[tuple[str, Callable[[Run], float | None], str], ...] = (
    ("memory: alive, MB", _alive_mb, "{:,.1f}"),
    ("latency: p99, s", _p99_s, "{:,.2f}"),
    ("refusals: not served", _unserved, "{:,.0f}"),
)
"""What a way at the door costs: its name, how it is read from a Run, how it is written."""


def _moments(fact: str, head: str) -> Callable[[Sequence[Run]], tuple[Sequence[str], Rows]]:
    def rows(runs: Sequence[Run]) -> tuple[Sequence[str], Rows]:
        found: Rows = []
        for run in runs:
            seen = run.facts[fact]
            step = max(1, len(seen) // MOMENTS)
            found += [(label(run, runs), f"{p['at_ms'] / 1000:.2f}", show(p["value"])) for p in seen[::step]]
        return ("run", "time, s", head), found

    return rows


def _latencies(runs: Sequence[Run]) -> tuple[Sequence[str], Rows]:
    rows: Rows = []
    for run in runs:
        series = main_series(run)
        in_order = [s.latency_ms for s in sorted(series.ok_samples, key=lambda s: s.index)] if series else []
        at = [percentile(in_order, share) for share in SHARES if in_order]
        rows.append((label(run, runs), *(f"{ms:,.0f}" for ms in at), *[""] * (len(SHARES) - len(at)), _unserved(run)))
    return ("run", *(f"{share:.0%} of the way, ms" for share in SHARES), "not served"), rows


def _prices(runs: Sequence[Run]) -> tuple[Sequence[str], Rows]:
    rows: Rows = []
    for run in runs:
        paid = [(price(run), form) for _, price, form in PAID]
        rows.append((label(run, runs), *("unknown" if v is None else form.format(v) for v, form in paid)))
    return ("run", *(title for title, *_ in PAID)), rows


def _rounds(runs: Sequence[Run]) -> tuple[Sequence[str], Rows]:
    rows: Rows = [
        (name, f"{median(walls):,.0f}", ", ".join(f"{ms:,.0f}" for ms in walls)) for name, _, walls in crews_of(runs)
    ]
    return ("crew", "median, ms", "each round, ms"), rows


_ROWS: dict[str, Callable[[Sequence[Run]], tuple[Sequence[str], Rows]]] = {
    "in_flight": _moments("in_flight_over_time", "requests in flight"),
    "heap": _moments("heap_over_time", "heap, MB"),
    "by_arrival": _latencies,
    "valve": _prices,
    "computing": _rounds,
}
