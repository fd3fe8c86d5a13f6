"""Other people's measurements, quoted as such beside ours; never presented as ours.

ONE_PERCENT     chapter 15: an Apple M1, eight loops, 2,000 requests at once of which 20 block for 100 ms
ADMISSION       chapter 18: the same machine, JDK 25, -Xmx2g, 20,000 requests at once, a downstream of 50 x 20 ms
COMPUTING_MS    chapter 18: 2,000 tasks that count primes, medians of ten processes
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
class PublishedRush:
    """A row of a published table; None where nothing was published. The p99 is of those served."""

    way: str
    per_s: int
    p99_ms: int | None
    in_flight: int
    heap_mb: int | None
    dropped: int = 0

    def __str__(self) -> str:
        p99 = f", p99 {self.p99_ms:,} ms" if self.p99_ms else ""
        heap = f", {self.heap_mb} MB" if self.heap_mb else ""
        lost = f", {self.dropped:,} turned away" if self.dropped else ""
        return f"{self.way}{lost}{p99}, {self.per_s:,} req/s; in flight {self.in_flight:,}{heap}"


ADMISSION = (
    PublishedRush("200 platform threads", 1_895, 10_400, 200, 10),
    PublishedRush("2,000 platform threads", 1_903, None, 2_000, None),
    PublishedRush("virtual threads", 1_818, 10_900, 19_900, 53),
    PublishedRush("virtual threads, gate 200", 1_836, 10_900, 200, 10),
    PublishedRush("virtual threads, gate 200 that rejects", 2_020, 99, 200, 4, 19_800),
)
"""Reruns of the first gave 1,801 to 1,910 a second. In flight of the second is so by construction, and not printed."""
COMPUTING_MS = {"cores": 142, "fixed": 142, "virtual": 148}
"""`fixed` is a pool of 200."""


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
