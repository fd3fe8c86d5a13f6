"""Runs made of hand-written samples, for charts that need no server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from waitlab.load.samples import Sample
from waitlab.runs import Run, Series

T0 = 100.0
LINE = [[0.0, 2000.0], [2.0, 0.0]]


def sample(series: str, index: int, at_s: float, took_ms: float, cls: str = "ok", thread: str = "loop-1") -> Sample:
    """A request sent on time that the server worked on for its last millisecond."""
    begin, end = T0 + at_s, T0 + at_s + took_ms / 1000
    if cls != "ok":
        return Sample(series, index, begin, begin, None, end, 0, cls, "", None, None)
    return Sample(series, index, begin, begin, end, end, 200, cls, thread, int(end * 1e6) - 1000, int(end * 1e6))


def make(
    *,
    series: Mapping[str, list[Sample]] | None = None,
    settings: Mapping[str, Any] | None = None,
    saturated: bool = False,
    **other: Any,
) -> Run:
    """Two sleepers and three bystanders, unless told otherwise."""
    block = [sample("block", i, 0.0, 2000, thread=f"loop-{i + 1}") for i in range(2)]
    fast = [sample("fast", i, 0.5 + 0.5 * i, 1500 - 500 * i, thread=f"loop-{i + 1}") for i in range(3)]
    fields: dict[str, Any] = {
        "experiment": "bystander",
        "in_force": {"cpus": 2, "event_loops": 4, "same_clock": True},
        "runtime": "embedded",
        "live": True,
        "machine": {"cpus": 2},
        "commit": "",
        "started_at": "2026-01-02T03:04:05Z",
        "duration_s": 2.0,
        "facts": {},
        "model": {"line": LINE},
        "line": "2 sleepers",
        "t0_s": T0,
    }
    named = series if series is not None else {"block": block, "fast": fast}
    return Run(
        settings={"endpoint": "sleep", "k": 2, **(settings or {})},
        series={name: Series(name, tuple(samples)) for name, samples in named.items()},
        client={"saturated": saturated},
        **{**fields, **other},
    )


@pytest.fixture
def a_run() -> Callable[..., Run]:
    return make


@pytest.fixture
def a_sample() -> Callable[..., Sample]:
    return sample
