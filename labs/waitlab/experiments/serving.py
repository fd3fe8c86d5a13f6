"""What every experiment on a server needs: warm it, notice its death, judge the client."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Any

from waitlab.errors import ServiceDied
from waitlab.load.plans import Plan, Stream, burst, spaced
from waitlab.load.samples import OK
from waitlab.load.verdict import steady_verdict

if TYPE_CHECKING:
    from waitlab.experiments.base import Bench
    from waitlab.load.client import LoadResult
    from waitlab.services import App

LOOP_PREFIX = "reactor-http-"
WINDOW, WINDOWS, LONGEST_WARMUP_S = 40, 8, 4.0
_warmed: dict[tuple[str, str, int | None], set[str]] = {}


def warm(bench: Bench, app: App, path: str) -> tuple[str, ...]:
    """Unmeasured requests until the medians of /fast settle; a note if they did not. Once per server and path."""
    done = _warmed.setdefault((bench.lab.lab_id, app.name, app.pid), set())
    if path in done:
        return ()
    bench.progress(0.0, "warming up")
    if path != "/fast":
        bench.unmeasured(Plan((Stream("warm", app.url + path, burst(12)),), "burst"))
    done.add(path)
    if "/fast" in done and path != "/fast":
        return ()
    done.add("/fast")
    return () if _settled(bench, app) else ("cold: the server had not settled before the run",)


def _settled(bench: Bench, app: App) -> bool:
    plan = Plan((Stream("warm", f"{app.url}/fast", spaced(WINDOW, 0.003)),), "steady")
    start, before = time.monotonic(), float("inf")
    for _ in range(WINDOWS):
        result = bench.unmeasured(plan)
        now = median([s.latency_ms for s in result.samples if s.cls == OK] or [0.0])
        if abs(now - before) < max(0.05 * before, 0.2):
            return True
        if time.monotonic() - start > LONGEST_WARMUP_S:
            return False
        before = now
    return False


def died_ms(app: App, result: LoadResult) -> dict[str, Any]:
    """{} if the server lives; else when the first request fell, ms after the start, and what the server said."""
    try:
        app.check_alive()
    except ServiceDied as death:
        fell = [s.done_s for s in result.samples if s.cls in ("reset", "refused") and s.done_s]
        return {
            "server_died_ms": (min(fell, default=result.t0) - result.t0) * 1000,
            "server_died": death.what,
        }
    return {}


def client_facts(result: LoadResult, kind: str, series: str | None = None) -> dict[str, Any]:
    """The client's facts with `saturated`: judged as steady load, or not at all where the floor itself is asked."""
    samples = [s for s in result.samples if series in (None, s.series)]
    facts = dict(result.client)
    if kind == "steady":
        verdict = steady_verdict(samples, facts["cpu_share"])
        return facts | {"saturated": verdict.void, "why": verdict.why}
    latencies = [s.latency_ms for s in samples if s.cls == OK]
    return facts | {
        "saturated": bool(facts.get("retransmits")),
        "floor_p50_ms": median(latencies) if latencies else None,
    }
