"""From a server's looks at its queues and the client's samples to numbers: how long each queue was, who waited where.

    Looks           GET /queues as columns, with the client's own count of requests in flight beside them
    queues()        each queue: peak and p50 while requests came, and the mean wait in it
    seen()          the median look, for the rule that names the first limit

Little's law gives the waits: the area under a queue, over the requests served, is the mean wait in it (exact where
the queue is empty at both ends). Source: Little, Operations Research 9 (1961).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from waitlab import models_stacks as models
from waitlab.controls import Settings
from waitlab.experiments.queues import Seen, Station
from waitlab.load.samples import OK, Sample

POINTS = 80
"""Points of the lines that charts draw."""
PLACES = ("accept", "workers", "scheduler", "connections", "elsewhere")
"""Where a request may wait, from the door inwards; elsewhere: on the network, for a processor, in the client."""
_GAUGES = {
    "mvc-platform": {"accept": "accept", "workers": "workers_waiting", "connections": "jdbc_waiting"},
    "mvc-virtual": {"accept": "accept_virtual", "connections": "jdbc_waiting"},
    "webflux-jdbc-offloaded": {"accept": "accept", "scheduler": "offload_waiting", "connections": "jdbc_waiting"},
    "webflux-r2dbc": {"accept": "accept", "connections": "r2dbc_waiting"},
}
_BUSY = {
    "mvc-platform": {"connections": "jdbc_busy", "workers": "workers_busy"},
    "mvc-virtual": {"connections": "jdbc_busy", "virtual_threads": "virtual_in_flight"},
    "webflux-jdbc-offloaded": {"connections": "jdbc_busy", "scheduler": "offload_busy"},
    "webflux-r2dbc": {"connections": "r2dbc_busy"},
}
_POOLS = {
    "mvc-platform": (("jdbc pool", "connections"), ("workers", "workers")),
    "mvc-virtual": (("jdbc pool", "connections"),),
    "webflux-jdbc-offloaded": (("jdbc pool", "connections"), ("offload pool", "scheduler")),
    "webflux-r2dbc": (("r2dbc pool", "connections"),),
}
"""By stack: the gauge of each queue, of what stands behind it, and the pools, the innermost first."""


@dataclass(frozen=True)
class Looks:
    """What a server saw at the times `at_s` (s after the plan's start), as columns by gauge; `last_s` ends arrivals."""

    at_s: Sequence[float]
    gauges: Mapping[str, Sequence[float]]
    in_flight: Sequence[float]
    latencies_ms: Sequence[float]
    threads_peak: int
    last_s: float

    def during(self, values: Sequence[float]) -> list[float]:
        """The values seen while requests came; all of them where no look fell into that time."""
        inside = [value for at, value in zip(self.at_s, values, strict=True) if 0 <= at <= self.last_s]
        return inside or list(values)

    def mean_wait_ms(self, values: Sequence[float]) -> float | None:
        """How long a request was in a queue of these lengths on average, ms; None where nothing was served."""
        looked = list(zip(self.at_s, values, strict=True))
        area = sum((here + there) / 2 * (later - at) for (at, here), (later, there) in pairwise(looked) if later > 0)
        return area / len(self.latencies_ms) * 1000 if self.latencies_ms else None

    def share(self, part: str, whole: Callable[[float], float]) -> float | None:
        """How much of a counter's growth, against what it could have grown, while requests came."""
        values = self.during(self.gauges.get(part, ()))
        if len(values) < 2 or min(values) < 0:
            return None
        possible = whole(self._span_s())
        return (values[-1] - values[0]) / possible if possible > 0 else None

    def _span_s(self) -> float:
        inside = self.during(self.at_s)
        return inside[-1] - inside[0]


def looks(answer: Mapping[str, Any], samples: Sequence[Sample], t0: float, last_s: float) -> Looks:
    """The answer of GET /queues beside the client's samples; both tell time by the machine's monotonic clock.

    Arrivals end after `last_s`, or with the last answer where the run was stopped before.
    """
    at_s = [us / 1e6 - t0 for us in answer["at_us"]]
    ended_s = max((x.done_s - t0 for x in samples if x.done_s is not None), default=last_s)
    return Looks(
        at_s,
        answer["series"],
        _in_flight(samples, [t0 + at for at in at_s]),
        sorted(x.latency_ms for x in samples if x.cls == OK),
        int(answer["platform_threads_peak"]),
        min(last_s, ended_s),
    )


def _in_flight(samples: Sequence[Sample], at: Sequence[float]) -> list[float]:
    """How many requests were due and not over at each of these times; those that were never sent are not counted."""
    sent = [x for x in samples if x.done_s is not None]
    begun, over = sorted(x.intended_s for x in sent), sorted(x.done_s or 0.0 for x in sent)
    return [float(bisect_right(begun, t) - bisect_right(over, t)) for t in at]


def lengths(seen: Looks, stack: str) -> dict[str, list[float] | None]:
    """The length of each queue at each look; None for a queue that the stack has not, or that nobody can see."""
    found: dict[str, list[float] | None] = dict.fromkeys(PLACES)
    for place, gauge in _GAUGES[stack].items():
        values = list(seen.gauges[gauge])
        found[place] = None if min(values, default=0) < 0 else values
    known = [values for values in found.values() if values is not None]
    served = seen.gauges[_BUSY[stack]["connections"]]
    found["elsewhere"] = [
        max(0.0, flying - served[i] - sum(values[i] for values in known)) for i, flying in enumerate(seen.in_flight)
    ]
    return found


def queues(seen: Looks, stack: str) -> dict[str, dict[str, float | None] | None]:
    """Each queue: p50 and peak while requests came, and the mean wait in it, ms."""
    return {
        place: _queue(seen, values) if values is not None else None for place, values in lengths(seen, stack).items()
    }


def _queue(seen: Looks, values: Sequence[float]) -> dict[str, float | None]:
    inside = seen.during(values)
    return {"p50": median(inside), "peak": max(values), "wait_ms": seen.mean_wait_ms(values)}


def in_service(seen: Looks, stack: str, s: Settings) -> dict[str, dict[str, float | None]]:
    """What stands behind the queues: how many places were taken (p50, peak), of how many, for how long each, ms."""
    return {
        place: {
            "p50": median(seen.during(seen.gauges[gauge])),
            "peak": max(seen.gauges[gauge]),
            "of": _size(stack, place, s),
            "held_ms": seen.mean_wait_ms(seen.gauges[gauge]),
        }
        for place, gauge in _BUSY[stack].items()
    }


def _size(stack: str, place: str, s: Settings) -> int | None:
    if place == "virtual_threads":
        return None
    return int(s[models.CONNECTIONS[stack] if place == "connections" else models.THREADS[stack]])


def cpu_share(seen: Looks, processors: float) -> float | None:
    """The share of `processors` that the JVM used while requests came."""
    return seen.share("cpu_us", lambda seconds: seconds * processors * 1e6)


def machine_share(seen: Looks) -> float | None:
    """The share of the machine's processors in use by anyone while requests came; None where it does not tell."""
    all_ticks = seen.during(seen.gauges.get("machine_ticks", ()))
    return seen.share("machine_busy_ticks", lambda _: all_ticks[-1] - all_ticks[0])


def median_look(seen: Looks, stack: str, s: Settings, cpu: float) -> Seen:
    """What the rule of the first limit looks at."""
    waits, busy = queues(seen, stack), in_service(seen, stack, s)
    stations = tuple(
        Station(name, _p50(waits[place]), _p50(busy[place]), int(busy[place]["of"] or 0), busy[place]["held_ms"] or 0.0)
        for name, place in _POOLS[stack]
    )
    flying = median(seen.during(seen.in_flight))
    return Seen(stations, flying, cpu, float(s["query_ms"]), float(s["rate_per_s"]), _p50(waits["accept"]))


def _p50(found: Mapping[str, float | None] | None) -> float:
    return float((found or {}).get("p50") or 0.0)


def lines(seen: Looks, stack: str) -> dict[str, list[float]]:
    """Each queue over time, at most POINTS points: `t_s`, then a list for each queue that can be seen."""
    step = max(1, -(-len(seen.at_s) // POINTS))
    found = {place: values[::step] for place, values in lengths(seen, stack).items() if values is not None}
    return {"t_s": [round(at, 3) for at in seen.at_s[::step]], **found}
