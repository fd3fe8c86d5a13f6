"""Warm before measuring: unmeasured rounds until what they show settles, once for each server and kind of work."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from waitlab.load.plans import Plan, Stream, burst, spaced
from waitlab.load.samples import OK
from waitlab.load.verdict import median_ms

if TYPE_CHECKING:
    from waitlab.experiments.base import Bench
    from waitlab.services import App

COLD = "cold: the server had not settled before the run"
AT_A_TIME, EVERY_S, BESIDE, ROUNDS = 100, 0.003, 12, 8
_warmed: set[tuple[object, ...]] = set()


def agree(before_ms: float, last_ms: float) -> bool:
    """Whether two medians in a row differ by less than max(5 %, 0.2 ms)."""
    return abs(last_ms - before_ms) < max(0.05 * before_ms, 0.2)


def roughly(before_ms: float, last_ms: float) -> bool:
    """Whether they differ by less than a quarter: enough for bursts, whose medians spread."""
    return abs(last_ms - before_ms) < 0.25 * before_ms


def warm(
    bench: Bench,
    app: App,
    work: object,
    once: Callable[[], float],
    most: int,
    settled: Callable[[float, float], bool] = agree,
) -> tuple[str, ...]:
    """Unmeasured rounds until two in a row have `settled`, `most` at most; a note if they did not.

    `once` drives a round and tells what it showed, ms. Each server (its process) is warmed once for each `work`.
    """
    key = (bench.lab.lab_id, app.name, app.pid, work)
    if key in _warmed:
        return ()
    bench.progress(0.0, "warming up")
    before, last = inf, inf
    for _ in range(most):
        before, last = last, once()
        if settled(before, last):
            break
    _warmed.add(key)
    return () if settled(before, last) else (COLD,)


def warm_path(bench: Bench, app: App, path: str) -> tuple[str, ...]:
    """Warms the server with calls to `path` beside requests to /fast, until the medians of /fast agree."""
    fast = Stream("fast", f"{app.url}/fast", spaced(AT_A_TIME, EVERY_S))
    other = Stream("warm", app.url + path, burst(BESIDE))
    plan = Plan((other, fast) if path != "/fast" else (fast,), "steady")

    def once() -> float:
        answered = [s for s in bench.unmeasured(plan).samples if s.series == "fast" and s.cls == OK]
        return median_ms(answered) if len(answered) == AT_A_TIME else inf

    return warm(bench, app, path, once, ROUNDS)


def forget() -> None:
    """Takes every server for a cold one again."""
    _warmed.clear()
