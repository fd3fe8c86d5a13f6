"""Predicted and measured are compared by name: what theory says of a series becomes a fact of the same name.

    p50_ms, throughput_per_s ...     of the experiment's first series
    slow_p50_ms, user_ok ...         of the series whose name stands in front

What theory only bounds bears the fact's name with `_at_most` or `_at_least` behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from waitlab.runs import Series

BOUNDS = ("_at_most", "_at_least")
_OF_SERIES = ("p50_ms", "p90_ms", "p99_ms", "max_ms", "throughput_per_s", "ok")


def series_facts(predicted: Iterable[str], series: Mapping[str, Series], t0_s: float) -> dict[str, Any]:
    """What was measured of the series under the names in `predicted`; `t0_s` is the start, monotonic seconds."""
    known = {f"{name}_": one for name, one in series.items()}
    known |= dict(zip([""], series.values(), strict=False))
    found = {before + field: getattr(one, field) for before, one in known.items() for field in _OF_SERIES}
    found |= {f"{before}wall_ms": _wall_ms(one, t0_s) for before, one in known.items()}
    return {name: found[name] for name in predicted if name in found}


def _wall_ms(one: Series, t0_s: float) -> float | None:
    """When the last success was done, ms after the start; None without one."""
    done = [x.done_s for x in one.ok_samples if x.done_s is not None]
    return (max(done) - t0_s) * 1000 if done else None


def without_fact(model: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    """The predictions that no fact of their name can be held against; lines for charts are none."""
    named = {name: name for name in model if not _is_line(model[name])}
    for bound in BOUNDS:
        named = {name: fact.removesuffix(bound) for name, fact in named.items()}
    return sorted(name for name, fact in named.items() if fact not in facts)


def _is_line(value: object) -> bool:
    """A line has x and y; several are lines by name."""
    if not isinstance(value, Mapping):
        return False
    return set(value) == {"x", "y"} or all(map(_is_line, value.values()))
