"""What the load engine can do on this machine: bursts and a steady rate against a stub of a fixed delay."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from waitlab.load.client import LoadResult, run_plan
from waitlab.load.plans import Plan, Stream, burst, steady
from waitlab.load.samples import OK
from waitlab.load.stub import running_stub
from waitlab.load.verdict import burst_verdict, median_ms, steady_verdict
from waitlab.paths import cache

DELAY_MS = 100.0
BURSTS = (10, 100, 500, 2000)
RATE_PER_S = 500.0
DURATION_S = 3.0
FILE = "calibration.json"


def calibrate(say: Callable[[str], None] = lambda _: None, *, folder: Path | None = None) -> dict[str, Any]:
    """Measures (about 6 s), stores the result in `folder` (the cache), and returns it.

    {"bursts": [{at_once, p50_ms, floor_p50_ms, max_ms, retransmits, void, why}], "steady": {rate_per_s, ...}}
    """
    with running_stub(DELAY_MS) as address:
        bursts = [_burst(address, k, say) for k in BURSTS]
        rate = _steady(address, say)
    result = {
        "delay_ms": DELAY_MS,
        "bursts": bursts,
        "steady": rate,
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "libcurl": rate.pop("libcurl"),
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    _store(result, _file(folder))
    return result


def stored(folder: Path | None = None) -> dict[str, Any] | None:
    """The last calibration of this machine, or None."""
    try:
        kept: dict[str, Any] = json.loads(_file(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept


def _burst(address: str, k: int, say: Callable[[str], None]) -> dict[str, Any]:
    say(f"{k} new connections at once")
    result, floor = (_run(address, path, burst(k), "burst") for path in ("/slow", "/fast"))
    verdict = burst_verdict(result.samples, floor.samples, result.client["retransmits"])
    return {
        "at_once": k,
        "p50_ms": round(median_ms(result.samples), 3),
        "floor_p50_ms": round(median_ms(floor.samples), 3),
        "max_ms": round(max(s.latency_ms for s in result.samples), 3),
        "retransmits": result.client["retransmits"],
        "errors": sum(s.cls != OK for s in result.samples),
        "void": verdict.void,
        "why": verdict.why,
    }


def _steady(address: str, say: Callable[[str], None]) -> dict[str, Any]:
    say(f"{RATE_PER_S:g} new connections a second")
    result = _run(address, "/slow", steady(RATE_PER_S, DURATION_S), "steady")
    verdict = steady_verdict(result.samples, result.client["cpu_share"])
    return {
        "rate_per_s": RATE_PER_S,
        "p50_ms": round(median_ms(result.samples), 3),
        "lag_p99_ms": result.client["lag_p99_ms"],
        "cpu_share": result.client["cpu_share"],
        "libcurl": result.client["libcurl"],
        "void": verdict.void,
        "why": verdict.why,
    }


def _run(address: str, path: str, at_s: tuple[float, ...], kind: Any) -> LoadResult:
    return run_plan(Plan((Stream("calibration", address + path, at_s),), kind))


def _store(result: dict[str, Any], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    fresh.write_text(json.dumps(result, indent=1), encoding="utf-8")
    fresh.replace(file)


def _file(folder: Path | None) -> Path:
    return (folder or cache()) / FILE
