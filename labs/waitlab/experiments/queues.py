"""Which limit a server hit first, from where its requests wait: a rule about what `watched` saw.

Station         a pool, and the queue before it
Seen            all stations, the processors, who is in flight: the median look while requests came
first_limit()   the limit that holds the others up, and why, as a sentence
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FULL = 0.9
"""From this share of its size on a pool counts as full: hand-overs leave a few places empty in most looks."""
BUSY = 0.9
"""From this share on the processors count as the limit."""
STRETCHED = 3.0
"""Where a place is held this many times as long as the query takes, something else holds up whoever has it."""
QUEUED = 1.0
"""A limit was hit where in the median look this many wait for each one in service: half of the time is waiting."""


@dataclass(frozen=True, slots=True)
class Station:
    """A pool and the queue before it, in the median look: `waiting` requests, `busy` of its `size` places.

    `held_ms`: how long a request has a place on average.
    """

    name: str
    waiting: float
    busy: float
    size: int
    held_ms: float

    @property
    def full(self) -> bool:
        """Its places are taken, and somebody waits for one."""
        return self.busy >= FULL * self.size and self.waiting >= 1


@dataclass(frozen=True, slots=True)
class Seen:
    """What the looks saw while requests came. `stations` from the innermost (the connections) outwards.

    In the median look: `in_flight`, requests sent and not answered; `accept`, connections not accepted yet. On
    average: `cpu`, the share of the processors in use, by anyone. `offered_per_s`: requests that came in a second.
    """

    stations: tuple[Station, ...]
    in_flight: float
    cpu: float
    query_ms: float
    offered_per_s: float
    accept: float = 0.0

    @property
    def waiting(self) -> float:
        """Requests on their way that no connection works for."""
        return max(0.0, self.in_flight - self.stations[0].busy)

    def held_up(self, station: Station) -> bool:
        """The processors are busy, and fill a pool that would do for all that came, or that all but stands still."""
        enough = station.size / self.query_ms * 1000 > self.offered_per_s
        return self.cpu >= BUSY and (enough or station.held_ms > STRETCHED * self.query_ms)


def first_limit(seen: Seen) -> tuple[str, str]:
    """The limit that was hit first, and why; `none` while fewer requests wait than are served.

    1. A full pool fills those before it: a thread that waits for a connection is no free thread. So the innermost
       full pool is the limit, however short the queue right before it.
    2. Busy processors fill every pool, since all work takes longer. They are the limit where the full pool would do
       for all that came, at the query's own pace, or where its places are held many times as long as the query.
    3. Where no pool is full, the processors, else the queue of connections that nobody has accepted.
    """
    inner = seen.stations[0]
    if seen.waiting < max(1.0, QUEUED * inner.busy):
        return "none", f"in the median look {seen.waiting:.0f} waited while {inner.busy:.0f} were served"
    full = next((station for station in seen.stations if station.full), None)
    if full is not None and not seen.held_up(full):
        return full.name, _because(full, seen.stations[seen.stations.index(full) + 1 :])
    if seen.cpu >= BUSY:
        why = f"a query of {seen.query_ms:g} ms had its connection for {inner.held_ms:.0f}"
        return "cpu", f"the processors were {seen.cpu:.0%} busy; {why}"
    if seen.accept >= 1:
        return "accept queue", f"{seen.accept:,.0f} connections waited to be accepted, with no full pool behind them"
    return "none", f"{seen.waiting:,.0f} waited, but no pool was full and the processors were {seen.cpu:.0%} busy"


def _because(full: Station, outer: Iterable[Station]) -> str:
    """A full pool in words: how full, and what that does to those before it."""
    told = [f"{full.busy:.0f} of {full.size} were taken and {full.waiting:,.0f} waited right before it"]
    told += [
        f"so the {one.name} filled up too, {one.busy:.0f} of {one.size}, with {one.waiting:,.0f} more waiting there"
        for one in outer
        if one.full
    ]
    return "; ".join(told)
