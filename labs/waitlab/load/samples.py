"""One request, one sample: when it should have been sent, when it was, what became of it.

All times are absolute seconds of the host's monotonic clock (`time.monotonic`); the server's own times are
microseconds of the same clock (`System.nanoTime` on one host).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

OK = "ok"
ERROR_CLASSES = ("http_error", "rejected", "timeout", "refused", "reset", "client_error", "unsent")
COLUMNS = (
    "series",
    "index",
    "intended_s",
    "sent_s",
    "first_byte_s",
    "done_s",
    "status",
    "class",
    "thread",
    "server_started_us",
    "server_ended_us",
)


class Sample(NamedTuple):
    """One request. Times in seconds; `cls` is "ok" or one of ERROR_CLASSES; `thread` the server's or ""."""

    series: str
    index: int  # type: ignore[assignment]
    intended_s: float
    sent_s: float | None
    first_byte_s: float | None
    done_s: float | None
    status: int
    cls: str
    thread: str
    server_started_us: int | None
    server_ended_us: int | None

    @property
    def latency_ms(self) -> float:
        """From when it should have been sent to its end, ms (0 where it was never sent)."""
        return (self.done_s - self.intended_s) * 1000 if self.done_s is not None else 0.0

    @property
    def lag_ms(self) -> float:
        """How late the client sent it, ms."""
        return (self.sent_s - self.intended_s) * 1000 if self.sent_s is not None else 0.0


def write_csv(path: Path, samples: Iterable[Sample]) -> None:
    """One row a request, columns as COLUMNS; what is unknown stays empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(["" if cell is None else cell for cell in sample] for sample in samples)


def from_row(row: Sequence[Any]) -> Sample:
    """A sample from a JSON row in the order of COLUMNS."""
    return Sample(*row)
