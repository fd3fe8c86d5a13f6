"""What late timers do to chapter 18's crowd: the same four ways, with sleepers woken in time and woken late.

    python benchmarks/late_timers.py [rounds [slack_ms]]

Linux may wake a sleeping thread up to its *timer slack* late (0.05 ms unless it is changed); whoever is started by a
thread inherits it. Here the JVM is given more: by default what the published cycle has over the 20 ms of a call,
capacity / published rate - hold. The ways and both slacks take turns, so that a busy moment hits all. Prints medians:
requests/s, share of the ceiling, how long the 20 ms lasted and the hand-over (ms), and what was published.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from waitlab.experiments import known
from waitlab.experiments.measure import measure
from waitlab.published import ADMISSION
from waitlab.services import Lab, open_lab

PR_SET_TIMERSLACK, USUAL = 29, 0
REQUESTS, CAPACITY, HOLD_MS = 10_000, 50, 20
WAYS = (
    {"pool_size": 200},
    {"pool_size": 2000},
    {"threads": "virtual"},
    {"threads": "virtual", "gate": 200},
)


@contextmanager
def timer_slack(ms: float) -> Iterator[None]:
    """While the block runs, timers of this thread, and of what it starts, may ring `ms` late; 0: as usual."""
    _set_slack(round(ms * 1e6))
    try:
        yield
    finally:
        _set_slack(USUAL)


def _set_slack(ns: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(ns)):
        raise OSError(ctypes.get_errno(), "the timer slack cannot be set")


def rush(lab: Lab, way: dict[str, str | int], slack_ms: float) -> dict[str, float]:
    experiment = known()["admission"]
    asked = experiment.settle({**way, "requests": REQUESTS, "capacity": CAPACITY, "hold_ms": HOLD_MS})
    with timer_slack(slack_ms):
        return measure(experiment, asked, lab).facts


def main(rounds: int, late_ms: float) -> None:
    seen = {(at, slack): [] for at in range(len(WAYS)) for slack in (0.0, late_ms)}
    with open_lab("embedded") as lab:
        for _ in range(rounds):
            for (at, slack), found in seen.items():
                found.append(rush(lab, WAYS[at], slack))
    print(
        f"{REQUESTS:,} requests, {rounds} rounds, load {os.getloadavg()[0]:.1f}; as usual | {late_ms:.1f} ms of slack"
    )
    for at, published in enumerate(ADMISSION[: len(WAYS)]):
        told = " | ".join(said(seen[at, slack]) for slack in (0.0, late_ms))
        print(f"{published.way:<25} {told} | published {published.per_s:,}/s")


def said(found: list[dict[str, float]]) -> str:
    names = ("throughput_per_s", "ceiling_per_s", "measured_hold_ms", "hand_over_ms")
    rate, ceiling, hold, over = (median(each[name] for each in found) for name in names)
    return f"{rate:6,.0f}/s {rate / ceiling:4.0%}, call {hold:5.2f} ms + {over:4.2f}"


if __name__ == "__main__":
    if sys.platform != "linux":
        raise SystemExit("Only Linux lets a program choose how late its timers may ring (PR_SET_TIMERSLACK).")
    published_ms = CAPACITY / ADMISSION[0].per_s * 1000
    given = [float(each) for each in sys.argv[1:]]
    main(int(given[0]) if given else 3, given[1] if len(given) > 1 else published_ms - HOLD_MS)
