"""What the main `admission` prints, as samples, facts and progress; also where it died or was stopped in the middle.

lines -> Told -> samples     a request each; what had not ended by then is counted as an error
              -> facts       walls, counts, in flight and heap over time
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from waitlab import models_18 as models
from waitlab.controls import Settings
from waitlab.load.samples import OK, Sample

SERIES = "served"
ENDS = (OK, "rejected", "refused", "reset")
"""How a request ended, in the order in which the main numbers them."""
FINISHED, STOPPED, DATABASE_DIED = "finished", "stopped", "database_died"
LOST = {"wall_limit": "timeout"}
FIELDS = 5  # index, how, thread, began, ended


@dataclass
class Told:
    """What a main has told so far: what is in force, each request's end, what was seen beside it, the last counts.

    `start_us` is when the crowd was there, microseconds of the machine's monotonic clock; `cut_us` is how long after
    that the run was cut off, where that is known.
    """

    requests: int
    progress: Callable[[float, str], None] = lambda share, text: None
    in_force: dict[str, Any] = field(default_factory=dict)
    ends: list[tuple[int, ...]] = field(default_factory=list)
    seen: list[tuple[float, ...]] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)
    start_us: int = 0
    cut_us: int = 0

    def take(self, line: dict[str, Any]) -> None:
        """Takes in one line, and passes on how far the run is."""
        if "in_flight_peak" in line:
            self.counts = line
        elif "seen" not in line:
            self.in_force = line
        else:
            self.start_us = line["start_us"]
            self.ends += _grouped(line["done"], FIELDS)
            self.seen += _grouped(line["seen"], 3)
            self.progress(len(self.ends) / self.requests, self._words())

    @property
    def wall_ms(self) -> float:
        """When the last request ended; of a run that was cut off, when that was, or when it was last seen."""
        last_us = max((end[4] for end in self.ends), default=0)
        last_ms = 0.0 if self.counts or not self.seen else self.seen[-1][0]
        return max(last_us / 1000, last_ms, self.cut_us / 1000)

    def _words(self) -> str:
        _, live, heap = self.seen[-1] if self.seen else (0, 0, 0)
        return f"{len(self.ends):,} of {self.requests:,} done, {live:,} in flight, {heap:,.0f} MB of heap"


def samples(told: Told, ended_by: str) -> tuple[Sample, ...]:
    """A sample a request; those that had no end when the run was cut off count as errors that lasted until then."""
    t0 = told.start_us / 1e6
    done = tuple(_sample(end, told.start_us) for end in told.ends)
    if len(done) == told.requests:
        return done
    known, until = {end[0] for end in told.ends}, t0 + told.wall_ms / 1000
    lost = LOST.get(ended_by, "reset")
    rest = (index for index in range(told.requests) if index not in known)
    return done + tuple(Sample(SERIES, i, t0, t0, None, until, 0, lost, "", None, None) for i in rest)


def facts(told: Told, ended_by: str, s: Settings) -> dict[str, Any]:
    """The contract's facts, and what was seen over time."""
    counted = [sum(end[1] == how for end in told.ends) for how in range(len(ENDS))]
    wall = told.wall_ms
    failed = told.requests - counted[0] - counted[1]
    return {
        "wall_ms": wall,
        "served": counted[0],
        "dropped": counted[1],
        "refused": counted[2],
        "failed": failed,
        "ended_by": ended_by,
        "throughput_per_s": counted[0] / _last_ok_ms(told) * 1000 if counted[0] else 0.0,
        "ceiling_per_s": models.ceiling_per_s(int(s["capacity"]), float(s["hold_ms"])),
        "in_flight_peak": told.counts.get("in_flight_peak", max((live for _, live, _ in told.seen), default=0)),
        "heap_peak_mb": told.counts.get("heap_peak_mb"),
        "collected_at_ms": told.counts.get("collected_at_ms"),
        **_cycle(told, _places(s)),
        "in_flight_over_time": [{"at_ms": at, "value": live} for at, live, _ in told.seen],
        "heap_over_time": [{"at_ms": at, "value": mb} for at, _, mb in told.seen],
    }


def _last_ok_ms(told: Told) -> float:
    return max(end[4] for end in told.ends if end[1] == 0) / 1000


def _places(s: Settings) -> int | None:
    """How many calls can be in the downstream at once; None where it sets no bound of its own."""
    if s["downstream"] == "unguarded":
        return None
    pool, gate = int(s["pool_size"]) if s["threads"] == "fixed" else 0, int(s["gate"])
    return min(places for places in (int(s["capacity"]), pool, gate) if places)


def _cycle(told: Told, places: int | None) -> dict[str, float | None]:
    """How long a call held its place in the downstream, ms, and how long a place then stood empty (hand-over)."""
    calls = sorted((end[3], end[4]) for end in told.ends if end[1] == 0)
    if not calls:
        return {"measured_hold_ms": None, "hand_over_ms": None}
    held = fmean(end - began for began, end in calls) / 1000
    turns = [(calls[i][0] - calls[i - places][0]) / 1000 for i in range(places, len(calls))] if places else []
    return {"measured_hold_ms": held, "hand_over_ms": fmean(turns) - held if turns else None}


def _sample(end: Sequence[int], start_us: int) -> Sample:
    index, how, thread, began, ended = end
    t0, done = start_us / 1e6, (start_us + ended) / 1e6
    name = "" if how == 1 and not thread else f"pool-{thread}" if thread else "virtual"
    served = (None, None) if began < 0 else (start_us + began, start_us + ended)
    return Sample(SERIES, index, t0, t0, done, done, 0, ENDS[how], name, *served)


def _grouped(flat: Sequence[Any], size: int) -> Iterable[tuple[Any, ...]]:
    return zip(*[iter(flat)] * size, strict=True)
