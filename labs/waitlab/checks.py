"""`check`: an exercise judged by what was measured, or by theory; passed, or a hint that looks at the answer.

The exercises of a chapter are in `exercises/<stem>.py`. A first failed try gets a question, the second a
pointer, the third the reason. A Run that is void or was stopped proves nothing, and costs no try.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from waitlab.controls import nearest
from waitlab.errors import ControlError
from waitlab.exercises import Exercise, known
from waitlab.runs import Run

__all__ = ["Verdict", "check", "forget"]

_tries: Counter[str] = Counter()


@dataclass(frozen=True)
class Verdict:
    """What a check found: `text` is the reason it passed, or the hint."""

    name: str
    passed: bool
    text: str

    def __repr__(self) -> str:
        return f"{'passed' if self.passed else 'not yet'}: {self.text}"


def check(name: str, answer: object) -> Verdict:
    """Judges the answer (a number, a dict, a Run) to the named exercise; ControlError if there is none."""
    exercise = _exercise(name)
    unfit = _unfit(exercise, answer)
    if unfit:
        return Verdict(name, False, unfit)
    finding = exercise.judge(answer)
    if finding.passed:
        return Verdict(name, True, finding.said[0])
    _tries[name] += 1
    return Verdict(name, False, finding.said[min(_tries[name], len(finding.said)) - 1])


def forget() -> None:
    """Counts tries from the start again."""
    _tries.clear()


def _exercise(name: object) -> Exercise:
    exercises = known()
    if not isinstance(name, str) or name not in exercises:
        raise ControlError(f"There is no exercise named {name!r}.", tip=nearest(str(name), exercises))
    return exercises[name]


def _unfit(exercise: Exercise, answer: object) -> str:
    """Why an answer cannot be judged at all; "" if it can."""
    if not _is_a(exercise.takes, answer):
        shown = f"{answer!r}"
        shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
        return f"this exercise takes {_CALLED[exercise.takes]}, and not {shown}."
    if isinstance(answer, Run):
        return _unfit_run(exercise, answer)
    return ""


def _unfit_run(exercise: Exercise, run: Run) -> str:
    if run.experiment != exercise.experiment:
        return f'this exercise takes a run of "{exercise.experiment}", and not of "{run.experiment}".'
    if run.void or run.partial or "server_died" in run.facts:
        why = "void, the client was measured and not the server" if run.void else "stopped before its end"
        return f"this run is {why}; measure again."
    return ""


def _is_a(kind: type, answer: object) -> bool:
    if kind is float:
        return isinstance(answer, int | float) and not isinstance(answer, bool) and answer == answer
    return isinstance(answer, kind)


_CALLED: dict[type, str] = {float: "a number", Mapping: "a dict", Run: "a run, as in mine = run(...)"}
