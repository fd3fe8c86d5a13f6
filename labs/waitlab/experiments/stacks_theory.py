"""Theory of four-stacks for its controls, and what is refused before anything starts."""

from __future__ import annotations

from typing import Any

from waitlab import limits, models
from waitlab import models_stacks as stacks
from waitlab.controls import Settings

MOST_OPEN, LONGEST_WAIT_MS, MOST_SENT = 9000, 50_000, 200_000
"""Connections open at once (Tomcat takes 10,000), a wait (the pools give up after 60 s), requests of a run."""
LIMITS = {
    "jdbc_pool_size": "jdbc pool", "r2dbc_pool_size": "r2dbc pool",
    "pool_size": "workers", "offload_pool_size": "offload pool",
}  # fmt: skip


def widths(s: Settings) -> dict[str, int]:
    """What bounds the stack, the innermost first: its connections, and its threads where it has a pool of them."""
    stack = str(s["stack"])
    pools = [name for name in (stacks.CONNECTIONS[stack], stacks.THREADS.get(stack)) if name]
    return {name: int(s[name]) for name in pools}


def knee(s: Settings) -> float:
    """The most that the stack can serve, requests/s: its narrowest pool over the query's time."""
    return stacks.knee_per_s(min(widths(s).values()), float(s["query_ms"]))


def _wait_ms(share: float, rate: float, s: Settings) -> float:
    servers, held = min(widths(s).values()), float(s["query_ms"])
    return stacks.wait_ms(share, rate, servers, held, float(s["duration_s"]), str(s["arrivals"]))


def longest_ms(s: Settings) -> float:
    """The longest that a request takes, ms, in theory."""
    return _wait_ms(0.999, float(s["rate_per_s"]), s) + float(s["query_ms"])


def model(s: Settings) -> dict[str, Any]:
    """What must come out, and the lines that charts draw: p50 by rate, latency by the time of sending.

    The processors are not in it.
    """
    rate, held, top = float(s["rate_per_s"]), float(s["query_ms"]), knee(s)
    narrowest = min(widths(s), key=lambda name: widths(s)[name])
    seconds = float(s["duration_s"])
    rates = sorted({rate, *(top * step / 100 for step in range(10, 201))})
    return {
        "knee_per_s": top,
        "first_limit": LIMITS[narrowest] if rate > top else "none",
        "throughput_per_s": stacks.throughput_per_s(rate, top, seconds, held),
        "p50_ms": held + _wait_ms(0.5, rate, s),
        "p99_ms": held + _wait_ms(0.99, rate, s),
        "curve": {"x": [0.0, seconds], "y": [models.steady_latency_ms(at, rate, top, held) for at in (0.0, seconds)]},
        "curves": {"stacks": {"x": rates, "y": [held + _wait_ms(0.5, one, s) for one in rates]}},
    }


def refuse(s: Settings) -> None:
    """ControlError for pools, rates and durations that this machine, the database or a run has no room for."""
    both, given = float(s["jdbc_pool_size"]) + float(s["r2dbc_pool_size"]), limits.database_connections()
    limits.refuse_above("jdbc_pool_size and r2dbc_pool_size together", both, given, "the database gives")
    for name in ("pool_size", "offload_pool_size"):
        limits.refuse_above(name, float(s[name]), limits.threads(), "one JVM may have")
    rate, seconds, top = float(s["rate_per_s"]), float(s["duration_s"]), knee(s)
    sent = MOST_SENT / seconds
    opened = top + min(MOST_OPEN, limits.descriptors()) / seconds
    waited = top * (1 + LONGEST_WAIT_MS / 1000 / seconds)
    limits.refuse_above("rate_per_s", rate, sent, "for this duration_s a run sends")
    limits.refuse_above("rate_per_s", rate, opened, "with these pools and this duration_s the open connections allow")
    limits.refuse_above("rate_per_s", rate, waited, "with these pools and this duration_s the longest wait allows")
