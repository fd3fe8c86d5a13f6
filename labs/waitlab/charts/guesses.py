"""The reader's guess as a mark in a chart whose axis has the guess's unit."""

from __future__ import annotations

from typing import Any

from waitlab.charts.palette import GUESS
from waitlab.predictions import Prediction, show

_MS_UP = ("latency", "stairs", "percentiles", "arrivals", "stacks", "breaker")
_S_ALONG = ("timeline",)
_OF_ONE = ("p50", "p90", "p99", "max")
_PER_S = ("req/s", "requests/s", "requests per second", "1/s", "/s")


def mark(figure: Any, kind: str, guess: Prediction) -> None:
    """Adds the guess as a line that begins with a star, across the axis of its unit; nothing where there is none."""
    if guess.value is None:
        return
    said = f"your guess of {guess.name}: {show(guess.value, guess.unit)}"
    if kind in _MS_UP and guess.unit in ("ms", "s"):
        _across(figure, guess.value * (1000 if guess.unit == "s" else 1), said)
    elif (kind == "throughput" and guess.unit in _PER_S) or (kind == "heap" and guess.unit == "MB"):
        _across(figure, guess.value, said)
    elif kind in _S_ALONG and guess.unit in ("ms", "s") and guess.name.rpartition(".")[2] not in _OF_ONE:
        _upright(figure, guess.value / (1000 if guess.unit == "ms" else 1), said)


def _across(figure: Any, y: float, said: str) -> None:
    places = _xs(figure)
    ends = [places[0], places[-1]] if places else [0, 1]
    figure.add_scatter(x=ends, y=[y, y], mode="lines+markers", name=said, hoverinfo="name", **_style())


def _upright(figure: Any, x: float, said: str) -> None:
    rows = list(figure.layout.yaxis.categoryarray or [])
    ends = [rows[0], rows[-1]] if rows else [0, 1]
    figure.add_scatter(x=[x, x], y=ends, mode="lines+markers", name=said, hoverinfo="name", **_style())


def _xs(figure: Any) -> list[Any]:
    found = [x for trace in figure.data if trace.x is not None for x in trace.x]
    return sorted(found) if all(isinstance(x, int | float) for x in found) else list(dict.fromkeys(found))


def _style() -> dict[str, Any]:
    return {
        "line": {"color": GUESS, "width": 2, "dash": "dot"},
        "marker": {
            "symbol": "star",
            "size": [15, 0],
            "opacity": 1,
            "color": GUESS,
            "line": {"width": 1, "color": "white"},
        },
        "cliponaxis": False,
    }
