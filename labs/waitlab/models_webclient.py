"""Theory of the WebClient lab: who holds what while a slow API is waited for, and what follows for everybody else.

    in_flight()         Little's law: how many calls hang at a time
    starts_ms()         one queue, some places, some patience: when each gets a place, or gives up
    holds_connection()  which of the eight ways keep a database connection during the call
    opens_at_ms()       when a circuit breaker opens, and when it lets probes through

Units: ms for times. Places are worker threads, connections of a client, or connections to the database.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from math import ceil, floor, inf

BLOCKING = ("resttemplate", "restclient", "webclient-block")


def in_flight(users: int, ramp_s: float, api_ms: float) -> float:
    """How many calls hang at a time: all of a burst, or rate x time of a ramp, never more than there are.

    Source: Little, Operations Research 9 (1961), for the ramp.
    """
    return float(users) if ramp_s <= 0 else min(float(users), users / ramp_s * api_ms / 1000)


def arrivals_ms(count: int, ramp_s: float, start_ms: float = 0.0) -> list[float]:
    """When `count` requests are sent, ms: all at once, or evenly over the ramp."""
    step = ramp_s * 1000 / count if count else 0.0
    return [start_ms + index * step for index in range(count)]


def starts_ms(arrivals: Sequence[tuple[float, float]], places: float, patience_ms: float = inf) -> list[float | None]:
    """When each of `arrivals` (sent at, holds its place for; ms, in order of sending) gets a place; None: gave up.

    One queue, first come first served. Whoever waits longer than `patience_ms` gives up and holds nothing.
    """
    free: list[float] = []
    found: list[float | None] = []
    for sent, hold in arrivals:
        start = max(sent, free[0]) if 0 < places <= len(free) else sent
        if places < 1 or start - sent > patience_ms:
            found.append(None)
            continue
        (heapq.heapreplace if len(free) >= places else heapq.heappush)(free, start + hold)
        found.append(start)
    return found


def bystander_wait_ms(sent_ms: float, users: int, workers: float, api_ms: float) -> float:
    """What a request waits for a thread that is sent while a burst of `users` blocks `workers` threads, ms.

    The burst stands in front of it; a thread is free for it after floor(users / workers) x API time.
    """
    free_at = users // workers * api_ms if workers < inf else 0.0
    return max(0.0, free_at - sent_ms)


def holds_connection(boundary: str, client: str, *, open_in_view: bool) -> bool:
    """Whether a connection to the database is kept while the call hangs.

    With open-in-view the session, and the connection it has used, stays to the end of the request. A transaction
    keeps it until its method returns: after the answer where the method waits, before the call where it returns a
    Mono. Source: tried with Spring Boot 4.1.2, and tested here combination by combination.
    """
    return open_in_view or (boundary == "transaction" and client in BLOCKING)


def held_throughput_per_s(pool: int, api_ms: float) -> float:
    """The most that a pool serves whose connections are held during the call, requests/s: pool / API time.

    Source: Little, Operations Research 9 (1961).
    """
    return pool / api_ms * 1000


def served_in_time(users: int, pool: int, api_ms: float, patience_ms: float) -> int:
    """How many of a burst get a connection before they give up: pool x ceil(patience / API time), at most all.

    The pool is free again at 0, A, 2A ...; those of these moments count that come before the time-out.
    """
    return min(users, pool * ceil(patience_ms / api_ms))


def opens_at_ms(window: int, interval_ms: float, timeout_ms: float) -> float:
    """When a breaker opens whose API has gone silent at 0, ms: (window - 1) x interval + time-out.

    It needs `window` failures, and the last of the first `window` calls fails when its time-out is over.
    """
    return (window - 1) * interval_ms + timeout_ms


def half_open_at_ms(opens_ms: float, wait_open_ms: float, interval_ms: float = 0.0, requests: int = 0) -> float | None:
    """When the first probe is let through, ms: with the first call that is sent after the wait.

    The breaker has no clock of its own: without a call it stays open. It opens a moment after the time-out, so that a
    call that is sent at the end of the wait is too early. None where all `requests` were sent before; an interval of 0
    is a call at any time.
    """
    over = opens_ms + wait_open_ms
    if interval_ms <= 0:
        return over
    call = floor(over / interval_ms) + 1
    return call * interval_ms if call < requests else None


def stale_age_ms(sent_ms: float, answered_fresh_ms: float = 0.0) -> float:
    """How old a stale answer is that is given at `sent_ms`, ms: the time since the last fresh one."""
    return max(0.0, sent_ms - answered_fresh_ms)


def threads_needed(rate_per_s: float, api_ms: float) -> float:
    """Threads that blocking calls of a steady rate hold: rate x time (Little's law)."""
    return rate_per_s * api_ms / 1000
