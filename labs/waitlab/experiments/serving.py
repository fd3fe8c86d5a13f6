"""What every experiment on a server needs: wait for something, notice its death, judge the client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import TYPE_CHECKING, Any

from waitlab.errors import ServiceDied
from waitlab.load.samples import Sample
from waitlab.load.verdict import median_ms, sent_freely, steady_verdict

if TYPE_CHECKING:
    from waitlab.load.client import LoadResult
    from waitlab.services import App
    from waitlab.services.threads import ThreadInfo

LOOP_PREFIX = "reactor-http-"
NO_CLIENT: dict[str, Any] = {
    "connections_opened": 0, "lag_p99_ms": 0.0, "cpu_share": None, "retransmits": None, "saturated": False,
}  # fmt: skip
"""What is told of the client where the server makes its load itself."""


def until(true: Callable[[], bool], within_s: float) -> bool:
    """Asks until it is true, `within_s` seconds at most; whether it came true."""
    deadline, pause = time.monotonic() + within_s, threading.Event()
    while not (found := true()) and time.monotonic() < deadline:
        pause.wait(0.02)
    return found


def died_ms(app: App, result: LoadResult) -> dict[str, Any]:
    """{} if the server and its database live; else when one died, ms after the start, and in what words."""
    try:
        app.check_alive()
    except ServiceDied as death:
        return _death(app.died_s(), death.what.rstrip("."), result)
    lost = app.database_died_s()
    return {} if lost is None else _death(lost, "the database ended by itself", result)


def check_alive(app: App) -> None:
    """ServiceDied if the server or its database has ended before anything was measured."""
    app.check_alive()
    if app.database_died_s() is not None:
        what = f"The database behind {app.name} ended by itself."
        raise ServiceDied(
            what, found="it went before anything was measured", tip="run the cell again: it is started anew."
        )


def _death(at_s: float | None, words: str, result: LoadResult) -> dict[str, Any]:
    """A death as facts; one before the plan's start counts from the start."""
    return {"server_died_ms": max(0.0, (at_s or result.t0) - result.t0) * 1000, "server_died": words}


def sleeping(app: App) -> list[ThreadInfo]:
    """The threads, virtual ones too, that sleep for a request now; from a thread dump."""
    return [thread for thread in app.threads() if any("Waits.sleep" in frame for frame in thread.top_frames)]


def client_facts(result: LoadResult, kind: str, series: str | None = None, connections: int = 0) -> dict[str, Any]:
    """The client's facts with `saturated`: judged as steady load, or not at all where the floor itself is asked.

    `series` alone is judged, sent on `connections` kept connections (0: a new one each).
    """
    samples = [s for s in result.samples if series in (None, s.series)]
    facts = dict(result.client)
    if kind == "steady":
        verdict = steady_verdict(sent_freely(samples, connections), facts["cpu_share"])
        return facts | {"saturated": verdict.void, "why": verdict.why}
    return facts | {"saturated": bool(facts.get("retransmits")), "floor_p50_ms": median_ms(samples)}


def by_second(done: Iterable[Sample], t0: float) -> list[float]:
    """The median latency of the requests sent in each second, ms."""
    seconds: dict[int, list[float]] = {}
    for x in done:
        seconds.setdefault(int(x.intended_s - t0), []).append(x.latency_ms)
    return [median(seconds[second]) for second in sorted(seconds)]
