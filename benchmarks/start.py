"""How fast a server is there: the plain jar, the extracted one, and with the AOT cache; a restart; a live change.

    python benchmarks/start.py [rounds]

The ways are started in turn, each round all of them, so that a busy moment hits all. From opening the lab (the
database starts beside the server) to the first answer. Prints medians (s), ranges and ratios.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from unittest.mock import PropertyMock, patch

from waitlab.paths import APPS
from waitlab.services import Lab, apps, open_lab


def timed(action: Callable[[], object]) -> float:
    start = time.monotonic()
    action()
    return time.monotonic() - start


@contextmanager
def plain_jar() -> Iterator[None]:
    """The one jar that Maven packs, as `java -jar` would start it, in a folder of its own."""
    packed = APPS / "webflux" / "target" / "app.jar"
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(apps.AppSpec, "folder", PropertyMock(return_value=Path(folder))),
        uncached(),
    ):
        (Path(folder) / "app.jar").symlink_to(packed)
        yield


@contextmanager
def uncached() -> Iterator[None]:
    with patch.object(apps, "uses_cache", lambda _settings: False):
        yield


@contextmanager
def cached() -> Iterator[None]:
    yield


WAYS = {"plain jar": plain_jar, "extracted": uncached, "AOT cache": cached}


def start_once(way: str) -> float:
    with WAYS[way](), open_lab("embedded") as lab:
        return timed(lambda: lab.app("webflux"))


def changes(lab: Lab) -> tuple[float, float]:
    live = [timed(lambda n=n: lab.app("webflux", offload_pool_size=n)) for n in (4, 8, 20)]
    restart = [timed(lambda n=n: lab.app("webflux", cpus=n)) for n in (4, 2)]
    return median(live), median(restart)


def main(rounds: int) -> None:
    took = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            took[way].append(start_once(way))
    with open_lab("embedded") as lab:
        lab.app("webflux")
        live, restart = changes(lab)
    best = median(took["AOT cache"])
    for way, seconds in took.items():
        spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
        print(
            f"start, {way:<10} {median(seconds):6.2f} s   {median(seconds) / best:4.2f} x   ({spread}, {rounds} rounds)"
        )
    print(f"restart on cpus   {restart:6.2f} s")
    print(f"live change       {live * 1000:6.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
