"""A Run: what one experiment measured, frozen, with its settings, its limits in force and its machine.

Percentiles are nearest-rank on the raw samples of successes; a p99 needs 100 of them, else it is None.
Latency is counted from the moment a request should have been sent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from waitlab.controls import Value
from waitlab.load.samples import ERROR_CLASSES, OK, Sample, from_row
from waitlab.progress import already_shown


def percentile(sorted_ms: Sequence[float], share: float) -> float | None:
    """The nearest-rank percentile of ascending values (`share` in 0..1); None without values."""
    if not sorted_ms:
        return None
    return sorted_ms[max(0, math.ceil(share * len(sorted_ms)) - 1)]


@dataclass(frozen=True)
class Series:
    """The samples of one kind of request in a Run, in the order in which they should have been sent."""

    name: str
    samples: tuple[Sample, ...]

    @property
    def offered(self) -> int:
        """Requests that should have been sent."""
        return len(self.samples)

    @cached_property
    def ok_samples(self) -> tuple[Sample, ...]:
        """The successes."""
        return tuple(s for s in self.samples if s.cls == OK)

    @property
    def ok(self) -> int:
        """How many succeeded."""
        return len(self.ok_samples)

    @cached_property
    def errors(self) -> dict[str, int]:
        """Failures by class; only classes that occurred."""
        counts = Counter(s.cls for s in self.samples)
        return {name: counts[name] for name in ERROR_CLASSES if counts[name]}

    @cached_property
    def latencies_ms(self) -> tuple[float, ...]:
        """Latencies of the successes, ascending, ms."""
        return tuple(sorted(s.latency_ms for s in self.ok_samples))

    @property
    def p50_ms(self) -> float | None:
        """Median latency of the successes, ms."""
        return percentile(self.latencies_ms, 0.50)

    @property
    def p90_ms(self) -> float | None:
        """90th percentile, ms."""
        return percentile(self.latencies_ms, 0.90)

    @property
    def p99_ms(self) -> float | None:
        """99th percentile, ms; None under 100 successes."""
        return percentile(self.latencies_ms, 0.99) if self.ok >= 100 else None

    @property
    def max_ms(self) -> float | None:
        """The slowest success, ms."""
        return self.latencies_ms[-1] if self.ok else None

    @cached_property
    def throughput_per_s(self) -> float | None:
        """Successes per second, from the first intended send to the last end."""
        if not self.ok_samples:
            return None
        start = min(s.intended_s for s in self.samples)
        return self.ok / max(max(s.done_s or start for s in self.ok_samples) - start, 1e-9)

    @cached_property
    def threads(self) -> dict[str, int]:
        """Successes by the server thread that did the work."""
        return dict(sorted(Counter(s.thread for s in self.ok_samples if s.thread).items()))

    def to_dict(self) -> dict[str, Any]:
        """The contract's fields."""
        numbers = ("p50_ms", "p90_ms", "p99_ms", "max_ms", "throughput_per_s")
        return {
            "offered": self.offered,
            "ok": self.ok,
            "errors": self.errors,
            **{name: _round(getattr(self, name)) for name in numbers},
            "threads": self.threads,
        }


@dataclass(frozen=True)
class Run:
    """One measurement. Prints itself in one line; `to_dict` is the contract's result.

    `t0_s` is the monotonic time from which the samples' clock is drawn; `partial` marks a run that was stopped.
    """

    experiment: str
    settings: Mapping[str, Value]
    in_force: Mapping[str, Any]
    runtime: str
    live: bool
    machine: Mapping[str, Any]
    commit: str
    started_at: str
    duration_s: float
    series: Mapping[str, Series]
    facts: Mapping[str, Any]
    model: Mapping[str, Any]
    client: Mapping[str, Any]
    line: str
    t0_s: float = 0.0
    partial: bool = False
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        return self.line

    def _ipython_display_(self) -> None:
        """In a notebook: the line, unless this cell has just shown it."""
        if not already_shown(self):
            print(self.line)

    @property
    def void(self) -> bool:
        """True where the client, not the server, was measured; a run that was stopped is partial, not void."""
        return bool(self.client.get("saturated")) and not self.partial

    def table(self) -> str:
        """One line a request: series, start (s), took (s), status, thread."""
        rows = [f"{'series':<10}{'start s':>9}{'took s':>9}  status  thread"]
        for sample in sorted(self._samples(), key=lambda s: s.intended_s):
            start = max(0.0, sample.intended_s - self.t0_s)
            state = str(sample.status or OK) if sample.cls == OK else sample.cls
            rows.append(f"{sample.series:<10}{start:9.3f}{sample.latency_ms / 1000:9.3f}  {state:<7} {sample.thread}")
        return "\n".join(rows)

    def to_dict(self) -> dict[str, Any]:
        """The contract's result, ready for JSON (without samples)."""
        named = ("experiment", "settings", "in_force", "runtime", "live", "machine", "commit", "started_at")
        return {
            **{name: _plain(getattr(self, name)) for name in named},
            "duration_s": round(self.duration_s, 3),
            "partial": self.partial,
            "series": {name: series.to_dict() for name, series in self.series.items()},
            "facts": _plain(self.facts),
            "model": _plain(self.model),
            "client": _plain(self.client),
            "notes": list(self.notes),
            "line": self.line,
        }

    def to_record(self) -> dict[str, Any]:
        """Everything, samples too: what a recorded run keeps."""
        samples = [list(sample) for sample in self._samples()]
        return {**self.to_dict(), "t0_s": self.t0_s, "samples": samples}

    def _samples(self) -> list[Sample]:
        return [sample for series in self.series.values() for sample in series.samples]


def from_record(record: Mapping[str, Any]) -> Run:
    """A Run from what `to_record` kept; it is marked as not live."""
    samples = [from_row(row) for row in record["samples"]]
    fields = {name: record[name] for name in _KEPT}
    series = {name: Series(name, tuple(s for s in samples if s.series == name)) for name in record["series"]}
    run = Run(**fields, series=series, live=False, notes=tuple(record["notes"]))
    return replace(run, line=f"{run.line} [recorded {run.started_at[:10]}]")


_KEPT = (
    "experiment", "settings", "in_force", "runtime", "machine", "commit", "started_at", "duration_s",
    "facts", "model", "client", "line", "t0_s", "partial",
)  # fmt: skip


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _round(value) if isinstance(value, float) else value
