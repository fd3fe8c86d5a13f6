"""Charts of bars along time: one bar a request (timeline), one row a server thread (lanes)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from waitlab.charts.figure import dressed, new
from waitlab.charts.palette import ERROR, WAITING, Look
from waitlab.charts.traces import crosses, dress, titled
from waitlab.charts.words import safe
from waitlab.errors import WaitlabError
from waitlab.load.samples import OK, Sample
from waitlab.runs import Run

MOST_LABELS = 40
SHORT_S = 0.02


class Bar(NamedTuple):
    """One bar: its row, where it begins (s since the start), how long it is (s), what hovering says."""

    row: Any
    start_s: float
    length_s: float
    said: str


def timeline(runs: Sequence[Run]) -> Any:
    """One bar a request, from when it should have been sent to its end: waiting, then being served."""
    run = runs[0]
    samples = _ordered(run)
    names = [safe(f"{sample.series} {sample.index + 1}", 24) for sample in samples]
    few = len(samples) <= MOST_LABELS
    title = titled("Every request, waiting and being served", runs)
    figure = new(title, "time since the start, s", "", height=tall(names))
    rows: list[Any] = names if few else list(range(1, len(samples) + 1))
    placed = list(zip(rows, samples, strict=True))
    split = bool(run.in_force.get("same_clock"))
    waiting = [bar for row, sample in placed if split for bar in _waiting(row, sample, run.t0_s)]
    add_bars(figure, "waiting", waiting, Look(WAITING, "", "/" if few else ""))
    for name in run.series:
        served = [bar for row, s in placed if s.series == name for bar in _served(row, s, run.t0_s, split=split)]
        words = "being served" if split else "waiting or being served"
        add_bars(figure, f"{name}: {words}", served, dress(run, name))
    _add_failed(figure, placed, run.t0_s)
    _name_rows(figure, names, few)
    return figure


def lanes(runs: Sequence[Run]) -> Any:
    """One row a server thread; each bar is one request's work holding it."""
    run = runs[0]
    if not run.in_force.get("same_clock"):
        raise WaitlabError(
            "Lanes need a server whose clock is the client's, and this Run's is not known to be.",
            found=f"the runtime {run.runtime}",
            tip='chart(run, kind="timeline")',
        )
    worked = [s for s in _ordered(run) if s.cls == OK and s.server_started_us is not None]
    threads = sorted({*dumped(run), *(sample.thread for sample in worked)}, key=natural)
    title = titled("What each server thread did", runs)
    figure = new(title, "time since the start, s", "", height=tall(threads))
    for name in run.series:
        held = [_held(safe(s.thread), s, run.t0_s) for s in worked if s.series == name]
        add_bars(
            figure,
            f"{name}: holds the thread",
            [bar for bar in held if bar.length_s >= SHORT_S],
            dress(run, name),
        )
        _add_ticks(
            figure,
            f"{name}: held it too briefly for a bar",
            [b for b in held if b.length_s < SHORT_S],
            run,
            name,
        )
    failed = [sample for sample in _ordered(run) if sample.cls != OK]
    if failed:
        where = [safe(sample.thread) or "no thread" for sample in failed]
        ends = [_end_s(sample, run.t0_s) for sample in failed]
        figure.add_scatter(**crosses(ends, where, f"failed: {len(failed)}", [s.cls for s in failed]))
    order = ["no thread"] * bool(failed) + [safe(name) for name in reversed(threads)]
    return rows_in_order(figure, order)


def add_bars(figure: Any, name: str, bars: Sequence[Bar], style: Look, **more: Any) -> None:
    """Bars along time as one trace; nothing where there are none."""
    if not bars:
        return
    figure.add_bar(
        orientation="h",
        name=name,
        y=[bar.row for bar in bars],
        base=[bar.start_s for bar in bars],
        x=[bar.length_s for bar in bars],
        marker={"color": style.colour, "pattern": dressed(style.pattern)},
        customdata=[[bar.said, bar.length_s * 1000] for bar in bars],
        hovertemplate="from %{base:.3f} s for %{customdata[1]:,.1f} ms, %{customdata[0]}<extra></extra>",
        **more,
    )
    figure.update_layout(barmode="overlay", bargap=0.25)


def rows_in_order(figure: Any, names: Sequence[str]) -> Any:
    """Names the rows from below; a row without bars is there all the same."""
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(names))
    unseen = {"opacity": 0}
    figure.add_scatter(
        x=[0] * len(names), y=list(names), mode="markers", marker=unseen, showlegend=False, hoverinfo="skip"
    )
    return figure


def dumped(run: Run) -> list[str]:
    """The names that a thread dump showed, if the Run has them."""
    names = run.facts.get("event_loop_threads") or []
    return [str(name) for name in names] if isinstance(names, list | tuple) else []


def natural(name: str) -> tuple[str, int]:
    """The order of thread names: epoll-2 before epoll-10."""
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :][:15] or 0)


def tall(rows: Sequence[Any]) -> int:
    """The height of a figure of this many rows, px."""
    return min(max(300, 150 + 21 * len(rows)), 720)


def _ordered(run: Run) -> list[Sample]:
    return [s for series in run.series.values() for s in sorted(series.samples, key=lambda s: s.intended_s)]


def _held(row: Any, sample: Sample, t0_s: float) -> Bar:
    started, ended = sample.server_started_us or 0, sample.server_ended_us or 0
    return Bar(row, started / 1e6 - t0_s, (ended - started) / 1e6, safe(f"{sample.series} on {sample.thread}"))


def _waiting(row: Any, sample: Sample, t0_s: float) -> list[Bar]:
    if sample.cls != OK or sample.server_started_us is None:
        return []
    start = sample.intended_s - t0_s
    return [Bar(row, start, max(sample.server_started_us / 1e6 - t0_s - start, 0), "waiting")]


def _served(row: Any, sample: Sample, t0_s: float, *, split: bool) -> list[Bar]:
    if sample.cls != OK or sample.done_s is None:
        return []
    if split and sample.server_started_us is not None:
        return [_held(row, sample, t0_s)]
    return [Bar(row, sample.intended_s - t0_s, sample.done_s - sample.intended_s, safe(sample.thread))]


def _end_s(sample: Sample, t0_s: float) -> float:
    return (sample.intended_s if sample.done_s is None else sample.done_s) - t0_s


def _add_failed(figure: Any, placed: Sequence[tuple[Any, Sample]], t0_s: float) -> None:
    """A red bar as long as each failure lasted, and a cross at its end."""
    failed = [(row, sample) for row, sample in placed if sample.cls != OK]
    if not failed:
        return
    bars = [Bar(row, s.intended_s - t0_s, _end_s(s, t0_s) - s.intended_s + t0_s, s.cls) for row, s in failed]
    add_bars(figure, "failed", bars, Look(ERROR, "x", "x"), showlegend=False, opacity=0.55)
    ends = [_end_s(sample, t0_s) for _, sample in failed]
    rows = [row for row, _ in failed]
    figure.add_scatter(**crosses(ends, rows, f"failed: {len(failed)}", [s.cls for _, s in failed]))


def _add_ticks(figure: Any, name: str, bars: Sequence[Bar], run: Run, series: str) -> None:
    if bars:
        mark = {"symbol": "diamond-tall", "size": 10, "color": dress(run, series).colour}
        x, y, said = [b.start_s for b in bars], [b.row for b in bars], [b.said for b in bars]
        figure.add_scatter(x=x, y=y, text=said, mode="markers", name=name, marker=mark, hoverinfo="x+text")


def _name_rows(figure: Any, names: Sequence[str], few: bool) -> None:
    if few:
        figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(reversed(names)))
    else:
        title = {"text": "requests, in the order of their sending"}
        figure.update_yaxes(autorange="reversed", title=title, tickformat=",d")
        figure.update_layout(bargap=0)
