"""Waiting, Measured: the verbs of a chapter. Heavy parts are imported when a verb is first used.

run("bystander", endpoint="sleep", k=4)     measure on a real server; prints one line, gives a Run
chart(run_1, run_2, guess)                  draw Runs, with the model and the reader's guess
predict("p50", unit="ms")                   ask the reader first
explore("bystander")                        sliders, the model, a Run button
start("webflux", cpus=4), stop()            the servers by hand
recorded("bystander", k=4)                  a run that was recorded, labelled
check("exercise", answer)                   an exercise, judged by what was measured
decide(rate_per_s=700, wait_ms=20)          which limit a service hits first, on each of four stacks
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

_HOME = {
    "chart": "charts",
    "check": "checks",
    "decide": "deciding",
    "explore": "widgets.explorer",
    "predict": "predictions",
    "recorded": "session",
    "run": "session",
    "start": "session",
    "stop": "session",
}
__all__ = ["chart", "check", "decide", "explore", "predict", "recorded", "run", "start", "stop"]


def __getattr__(name: str) -> Any:
    """A verb, imported from its module at first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    verb = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = verb
    return verb


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if "ipykernel" in sys.modules:
    importlib.import_module(f"{__name__}.charts").warm_up()
