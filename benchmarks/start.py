"""How fast a server is there: with the AOT cache beside the plain jar, after a restart, after a live change.

    python benchmarks/start.py [rounds]

The two ways are started in turn, each round both, so that a busy moment hits both. Prints medians (s) and ratios.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from unittest.mock import patch

from waitlab.services import Lab, apps, open_lab


def timed(action: Callable[[], object]) -> float:
    start = time.monotonic()
    action()
    return time.monotonic() - start


def start_once(ways: AbstractContextManager[object]) -> float:
    with ways, open_lab("embedded") as lab:
        return timed(lambda: lab.app("webflux"))


def changes(lab: Lab) -> tuple[float, float]:
    live = [timed(lambda n=n: lab.app("webflux", offload_pool_size=n)) for n in (4, 8, 20)]
    restart = [timed(lambda n=n: lab.app("webflux", cpus=n)) for n in (4, 2)]
    return median(live), median(restart)


def main(rounds: int) -> None:
    plain, cached = [], []
    for _ in range(rounds):
        plain.append(start_once(patch.object(apps, "uses_cache", lambda _settings: False)))
        cached.append(start_once(nullcontext()))
    with open_lab("embedded") as lab:
        lab.app("webflux")
        live, restart = changes(lab)
    print(f"start, plain jar     {median(plain):6.2f} s   ({min(plain):.2f} to {max(plain):.2f}, {rounds} rounds)")
    print(f"start, AOT cache     {median(cached):6.2f} s   ({min(cached):.2f} to {max(cached):.2f})")
    print(f"plain / cached       {median(plain) / median(cached):6.2f}")
    print(f"restart on cpus      {restart:6.2f} s")
    print(f"live change          {live * 1000:6.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
