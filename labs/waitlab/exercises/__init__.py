"""The exercises, by name. One module a chapter, named by the chapter's stem, each with EXERCISES."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from waitlab.runs import Run

__all__ = ["Exercise", "Finding", "changed", "is_about", "known", "not_yet", "passed"]

CHAPTERS = ("lab_webflux", "09_thread_per_request", "15_blocking_the_loop", "18_choosing", "lab_webclient")


@dataclass(frozen=True)
class Finding:
    """What an answer showed: passed and why, or not, with hints (a question, a pointer, the reason)."""

    passed: bool
    said: tuple[str, ...]


def passed(said: str) -> Finding:
    """The answer is right, and why."""
    return Finding(True, (said,))


def not_yet(*hints: str) -> Finding:
    """The answer is not right yet: a question, a pointer, the reason."""
    return Finding(False, hints)


def is_about(answer: float, right: float, within: float = 0.01) -> bool:
    """Whether a number is theory's, but for rounding: within this share of it."""
    return abs(answer - right) <= within * right


def changed(run: Run, **kept: Any) -> str:
    """The first control that this run should have kept and did not, as `name=value`; "" if none."""
    return next((f"{name}={run.settings[name]}" for name, value in kept.items() if run.settings[name] != value), "")


@dataclass(frozen=True)
class Exercise:
    """One exercise: `takes` is float, Mapping or Run, then of `experiment`."""

    name: str
    chapter: str
    takes: type
    judge: Callable[[Any], Finding]
    experiment: str = ""


@cache
def known() -> dict[str, Exercise]:
    """Every exercise by name, in the order of the chapters."""
    modules = [importlib.import_module(f"{__name__}.{stem}") for stem in CHAPTERS]
    return {exercise.name: exercise for module in modules for exercise in module.EXERCISES}
