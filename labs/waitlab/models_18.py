"""Theory of chapter 18: a crowd that is there at once, a limit in front of it, and a downstream that decides.

    Crowd               how many come, how many may have a thread, how many are let in, whom they call
    ends_ms()           when each of those served is done: whole waves behind a valve, a queueing net without one
    in_flight()         how many own a live thread at a time
    overload_ms()       how long a call takes in a server that lets everybody in
    curve(), decline()  the same as lines for charts

Units: ms for times, requests/s for throughput, kB (1,024 bytes) and MB for memory, counts for the rest. All are there
at time 0.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

FRICTION = 0.1
"""How much each further capacity's worth of callers slows all of them down, in the server without a valve."""
POINTS = 200


@dataclass(frozen=True, slots=True)
class Crowd:
    """A crowd and its limits; a limit of None is none. `limit` is how many callers a server without a valve takes.

    `pool` limits the threads, `gate` those let in; `inside` puts the gate behind the threads. Times in ms.
    """

    requests: int
    pool: int | None
    gate: int | None
    inside: bool
    reject: bool
    capacity: int
    hold_ms: float
    limit: int | None = None

    @property
    def admitted(self) -> int:
        """Requests that are let in: all who wait, or as many as find the gate open at the start.

        A gate behind the threads of a pool is never full where the pool is no larger: then all are.
        """
        never_full = self.inside and self.pool is not None and self.gate is not None and self.pool <= self.gate
        return min(self.gate, self.requests) if self.gate and self.reject and not never_full else self.requests

    @property
    def callers(self) -> int:
        """How many can be at the downstream's door at a time: threads, gate, and those who are there."""
        return min(n for n in (self.pool, self.gate, self.admitted) if n)

    @property
    def width(self) -> int:
        """How many are served at a time: callers, and never more than the downstream's capacity."""
        return min(self.callers, self.capacity)

    @property
    def sent_off_from(self) -> int | None:
        """How many hold a thread before the next is sent off at once, by a full gate inside or a full server."""
        if self.inside and self.gate:
            return self.gate if self.reject else None
        return self.limit if self.limit is not None and self.callers > self.limit else None


def ceiling_per_s(capacity: int, hold_ms: float) -> float:
    """The most a downstream can do, requests/s: capacity / hold (Little's law). No thread is in it.

    Source: Little, Operations Research 9 (1961).
    """
    return capacity / hold_ms * 1000


def in_flight(crowd: Crowd) -> int:
    """Requests that own a live thread at the peak: min(threads, gate, requests); a gate inside limits no threads.

    Whoever is turned away or refused behind its thread has had one for a moment: one more than may stay.
    """
    gate = None if crowd.inside else crowd.gate
    there = crowd.requests if crowd.inside else crowd.admitted
    passing = crowd.sent_off_from + 1 if crowd.sent_off_from is not None else None
    return min(n for n in (crowd.pool, gate, there, passing) if n)


def payloads(crowd: Crowd) -> int:
    """Requests whose data is in memory at the peak: all that were handed over, whether they have a thread or queue."""
    return min(crowd.gate, crowd.requests) if crowd.gate and not crowd.inside else crowd.requests


def held_mb(crowd: Crowd, payload_kb: float) -> float:
    """What the requests' data takes at the peak, MB: payloads x kB / 1,024."""
    return payloads(crowd) * payload_kb / 1024


def overload_ms(callers: int, capacity: int, hold_ms: float) -> float:
    """How long a call takes in a server that lets everybody in, n callers for a capacity of c, ms.

    hold x (n / c) x (1 + f (n / c - 1)), at least hold: the work is shared, and a crowd rubs (f = FRICTION). So the
    throughput is c / hold / (1 + f (n / c - 1)), which falls as n grows.
    Source: the universal scalability law (Gunther, Guerrilla Capacity Planning, 2007), in its simplest form.
    """
    crowded = max(1.0, callers / capacity)
    return hold_ms * crowded * (1 + FRICTION * (crowded - 1))


def overload_per_s(callers: int, capacity: int, hold_ms: float) -> float:
    """What a server that lets everybody in does with n callers, requests/s: n / overload_ms."""
    return callers / overload_ms(callers, capacity, hold_ms) * 1000


def ends_ms(crowd: Crowd) -> Sequence[float]:
    """When each of those served is done, ascending, ms: the i-th in wave ceil(i / width); else as the overload goes."""
    if crowd.limit is not None:
        return _overloaded(crowd)
    return _Waves(crowd.admitted, crowd.width, crowd.hold_ms)


def wall_ms(crowd: Crowd) -> float:
    """When the last of those served is done, ms."""
    return ends_ms(crowd)[-1]


def throughput_per_s(crowd: Crowd) -> float:
    """Those served by the time it takes, requests/s."""
    ends = ends_ms(crowd)
    return len(ends) / ends[-1] * 1000


def curve(ends: Sequence[float]) -> dict[str, list[float]]:
    """Latencies in the order of arrival (the first come are the first served), thinned to at most POINTS + 1 points."""
    step = max(1, ceil(len(ends) / POINTS))
    ranks = sorted({*range(0, len(ends), step), len(ends) - 1})
    return {"x": [float(rank + 1) for rank in ranks], "y": [ends[rank] for rank in ranks]}


def decline(crowd: Crowd) -> dict[str, list[float]]:
    """In flight over time: min(its limit, those not done yet); x in s, y in requests."""
    ends, most = ends_ms(crowd), in_flight(crowd)
    step = max(1, ceil(len(ends) / POINTS))
    done = sorted({0, *range(step, len(ends), step), len(ends)})
    at = [0.0 if n == 0 else ends[n - 1] / 1000 for n in done]
    return {"x": at, "y": [float(min(most, len(ends) - n)) for n in done]}


class _Waves(Sequence[float]):
    """ceil(i / width) x hold for i = 1 .. n, without keeping them: sliders ask for a few only."""

    def __init__(self, served: int, width: int, hold_ms: float) -> None:
        self._served, self._width, self._hold_ms = served, width, hold_ms

    def __len__(self) -> int:
        return self._served

    def __getitem__(self, rank: int) -> float:  # type: ignore[override]
        place = rank + self._served if rank < 0 else rank
        if not 0 <= place < self._served:
            raise IndexError(rank)
        return (place // self._width + 1) * self._hold_ms


@lru_cache(maxsize=64)
def _overloaded(crowd: Crowd) -> tuple[float, ...]:
    """Ends in a server without a valve: n callers at the start, each in for as long as those already in make it.

    More at once than it takes: the first `limit` are served, all others refused. Else whoever is done makes room for
    the next, who is then one of n again.
    """
    assert crowd.limit is not None
    first = min(crowd.callers, crowd.limit)
    times = [overload_ms(n, crowd.capacity, crowd.hold_ms) for n in range(1, first + 1)]
    if crowd.callers > crowd.limit:
        return tuple(times)
    ends, last = [], times[-1]
    for _ in range(crowd.admitted - first):
        ends.append(heapq.heapreplace(times, times[0] + last))
    return tuple(sorted([*ends, *times]))
