"""Whether a run may be shown: was it the server that was measured, or the client?

Pure functions of samples. Lateness is how long after its intended time a request was really sent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from waitlab.load.samples import OK, Sample

ALLOWED_LAG_MS = 5.0
ALLOWED_LAG_SHARE = 0.05  # of the run's median, on top of ALLOWED_LAG_MS
ALLOWED_CPU_SHARE = 0.80  # of one core
ALLOWED_FLOOR_SHARE = 0.50  # of the burst's median
P99_NEEDS = 100


class Verdict(NamedTuple):
    """`void` where the run must not be shown as a result; `why` is the sentence that says so, or ""."""

    void: bool
    why: str


GOOD = Verdict(False, "")


def steady_verdict(samples: Sequence[Sample], cpu_share: float) -> Verdict:
    """A steady run is void where the client sent late, or used over 80 % of a core."""
    if cpu_share > ALLOWED_CPU_SHARE:
        return Verdict(True, f"Void: the load engine used {cpu_share:.0%} of a core (80 % is the limit).")
    lags = _lags(samples)
    if not lags:
        return GOOD if not samples else Verdict(True, "Void: no request was sent.")
    few = len(lags) < P99_NEEDS
    lag = _rank(lags, 0.90 if few else 0.99)
    limit = ALLOWED_LAG_MS + ALLOWED_LAG_SHARE * median_ms(samples)
    if lag > limit:
        name = "p90, as under 100 requests have no p99," if few else "p99"
        return Verdict(True, f"Void: the client sent late ({name} {lag:.1f} ms, allowed {limit:.1f} ms).")
    return GOOD


def burst_verdict(samples: Sequence[Sample], floor_samples: Sequence[Sample], retransmits: int | None) -> Verdict:
    """A burst is void where a SYN was sent again, or the same burst without work takes over half as long."""
    if retransmits:
        times = "once" if retransmits == 1 else f"{retransmits} times"
        return Verdict(True, f"Void: a connection had to be asked for again (SYN retransmitted {times}).")
    floor, median = median_ms(floor_samples), median_ms(samples)
    if not any(s.cls == OK for s in floor_samples):
        return Verdict(True, "Void: the floor of this burst has no answer to compare with.")
    if median and floor > ALLOWED_FLOOR_SHARE * median:
        why = f"Void: the same burst without work takes {floor:.1f} ms (p50), over half of {median:.1f} ms."
        return Verdict(True, why)
    return GOOD


def sent_freely(samples: Sequence[Sample], connections: int) -> list[Sample]:
    """Samples of a stream on `connections` kept ones whose connection was free when they should have been sent.

    The others were late because the one before them on their connection had no answer yet: the server's doing.
    With 0 connections (a new one each) all were free.
    """
    if not connections:
        return list(samples)
    done = {s.index: s.done_s for s in samples}
    before = [(s, done.get(s.index - connections)) for s in samples]
    return [s for s, ended in before if ended is None or ended <= s.intended_s]


def lag_facts(samples: Iterable[Sample]) -> dict[str, float | None]:
    """lag_p99_ms (None under 100 sent requests) and lag_p90_ms (None without any), nearest rank."""
    lags = _lags(samples)
    return {
        "lag_p99_ms": round(_rank(lags, 0.99), 3) if len(lags) >= P99_NEEDS else None,
        "lag_p90_ms": round(_rank(lags, 0.90), 3) if lags else None,
    }


def median_ms(samples: Iterable[Sample]) -> float:
    """The median latency of the successes, ms, nearest rank; 0 without any."""
    latencies = sorted(s.latency_ms for s in samples if s.cls == OK)
    return _rank(latencies, 0.50) if latencies else 0.0


def _lags(samples: Iterable[Sample]) -> list[float]:
    return sorted(s.lag_ms for s in samples if s.sent_s is not None)


def _rank(ascending: Sequence[float], share: float) -> float:
    return ascending[max(0, math.ceil(share * len(ascending)) - 1)]
