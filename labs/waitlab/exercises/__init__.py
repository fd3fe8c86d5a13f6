"""The exercises, by name. One module a chapter, named by the chapter's stem, each with EXERCISES."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

__all__ = ["Exercise", "Finding", "known"]

CHAPTERS = ("lab_webflux", "09_thread_per_request", "15_blocking_the_loop", "18_choosing", "lab_webclient")


@dataclass(frozen=True)
class Finding:
    """What an answer showed: passed and why, or not, with hints (a question, a pointer, the reason)."""

    passed: bool
    said: tuple[str, ...]


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
