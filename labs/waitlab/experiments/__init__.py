"""The experiments, by name. One module a chapter, named by the chapter's stem, each with EXPERIMENTS.

`witnesses` and `docker_limits` belong to lab_webflux: without load the one, in Docker only the other; `four_stacks`
and `pressure` belong to 18_choosing; `connection_held` and `circuit_breaker` belong to lab_webclient.
"""

from __future__ import annotations

import importlib
from functools import cache

from waitlab.controls import nearest
from waitlab.errors import ControlError, quoted
from waitlab.experiments.base import Experiment

__all__ = ["Experiment", "get", "known"]

CHAPTERS = ("lab_webflux", "09_thread_per_request", "15_blocking_the_loop", "18_choosing", "lab_webclient")
BESIDE = ("witnesses", "docker_limits", "four_stacks", "pressure", "connection_held", "circuit_breaker")


@cache
def known() -> dict[str, Experiment]:
    """Every experiment by name, in the order of the chapters."""
    modules = [importlib.import_module(f"{__name__}.{stem}") for stem in (*CHAPTERS, *BESIDE)]
    return {experiment.name: experiment for module in modules for experiment in module.EXPERIMENTS}


def get(name: str) -> Experiment:
    """The experiment of that name; ControlError with the nearest names if there is none."""
    if not isinstance(name, str) or name not in known():
        raise ControlError(
            f"There is no experiment named {quoted(name)}.",
            tip=nearest(str(name), known()) + " (waitlab experiments)",
        )
    return known()[name]
