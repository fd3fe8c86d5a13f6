"""Other people's measurements, quoted as such beside ours; never presented as ours.

ONE_PERCENT     chapter 15: an Apple M1, eight loops, 2,000 requests at once of which 20 block for 100 ms
CLIENTS         the WebClient lab: a laptop's Docker, 200 requests to a slow API behind Spring MVC
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """A row of a published table: medians of five; `low` and `high` are the range of the throughput."""

    where: str
    pool: int | None
    per_s: int
    low: int
    high: int
    p50_ms: int
    p99_ms: int


ONE_PERCENT = (
    Published("none", None, 23_529, 20_833, 23_810, 39, 72),
    Published("onloop", None, 5_333, 5_222, 5_376, 129, 268),
    Published("offload", 64, 9_950, 9_259, 10_152, 42, 84),
    Published("offload", 4, 3_490, 3_401, 3_490, 41, 76),
)
"""`pool` is the offload pool's size, where there is one; the p50 and p99 are those of the 1,980 innocents."""


@dataclass(frozen=True, slots=True)
class PublishedClient:
    """A row of a published comparison: latency in ms, the process's CPU in percent, live threads of the JVM."""

    latency_ms: int
    cpu_percent: float
    live_threads: int


CLIENTS = {
    "resttemplate": PublishedClient(6000, 19.2, 229),
    "webclient-mono": PublishedClient(4742, 9.7, 236),
}
"""By the client that was asked with."""
