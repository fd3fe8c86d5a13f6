"""Plans: what is to be sent, and exactly when.

A plan is made of streams, a stream of intended send times in seconds from the plan's start. The clock of a
request runs from its intended time, so a plan never waits for a slow client (a closed loop does, by nature).
"""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from typing import Any, Literal

Connection = Literal["new", "kept"]
Kind = Literal["burst", "steady", "closed"]


@dataclass(frozen=True, slots=True)
class Stream:
    """Requests of one name and address.

    `at_s`: intended send times, s from the plan's start, ascending; empty in a closed plan.
    "new": a connection of its own for each request; with `connect_first` it is opened before time 0, one
    after another, each accepted before the next, and used once. "kept": `connections` connections, opened and
    used once for GET /fast before time 0; request i goes on connection i mod `connections`, or queues there.
    """

    name: str
    url: str
    at_s: tuple[float, ...]
    timeout_s: float = 30.0
    connection: Connection = "new"
    connections: int = 0
    connect_first: bool = False
    headers: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if any(later < sooner for sooner, later in zip(self.at_s, self.at_s[1:], strict=False)):
            raise ValueError(f"the send times of {self.name} must ascend")
        if self.connection == "kept" and self.connections < 1:
            raise ValueError(f"{self.name} keeps connections alive and needs at least one")
        if self.timeout_s <= 0:
            raise ValueError(f"the time-out of {self.name} must be positive")


@dataclass(frozen=True, slots=True)
class Plan:
    """Streams that run together.

    "closed": `users` users send one request after another (`think_s` apart) until `requests` are sent in all;
    user u uses stream u mod len(streams). `idle_connections` silent ones to `idle_url` stay open meanwhile.
    """

    streams: tuple[Stream, ...]
    kind: Kind = "burst"
    users: int = 0
    requests: int = 0
    think_s: float = 0.0
    idle_connections: int = 0
    idle_url: str = ""

    def __post_init__(self) -> None:
        if self.kind == "closed" and not (self.users > 0 and self.requests > 0):
            raise ValueError("a closed plan needs users and requests")
        if self.kind == "closed" and any(s.at_s or s.connection == "kept" for s in self.streams):
            raise ValueError("a closed plan has no send times and opens a connection for each request")
        if self.idle_connections and not self.idle_url:
            raise ValueError("idle connections need an address")

    @property
    def offered(self) -> int:
        """Requests in all."""
        return self.requests if self.kind == "closed" else sum(len(s.at_s) for s in self.streams)

    def to_json(self) -> dict[str, Any]:
        """The plan as the engine reads it."""
        return asdict(self)


def burst(n: int, at: float = 0.0) -> tuple[float, ...]:
    """`n` requests at the same moment, `at` s."""
    return (at,) * n


def spaced(n: int, interval_s: float, start: float = 0.0) -> tuple[float, ...]:
    """`n` requests, one each `interval_s`, the first at `start` s."""
    return tuple(start + i * interval_s for i in range(n))


def steady(rate: float, duration: float) -> tuple[float, ...]:
    """`rate` requests a second for `duration` s, evenly."""
    return spaced(round(rate * duration), 1 / rate)


def poisson(rate: float, duration: float, seed: int) -> tuple[float, ...]:
    """Random arrivals at `rate` a second for `duration` s; the same for the same seed."""
    draw = random.Random(seed)
    times: list[float] = []
    at = draw.expovariate(rate)
    while at < duration:
        times.append(at)
        at += draw.expovariate(rate)
    return tuple(times)
