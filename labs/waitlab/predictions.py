"""Predictions: the reader's guess before a Run, kept with the reader's history, compared after it.

A box that was never filled in is no guess. Where no reader sits (tests, headless chapters) guesses come
from the cells' tags, `predict:600`: `tagged_guesses` collects them, WAITLAB_PREDICT hands them to the kernel
in order, and they never enter the history.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from waitlab.errors import ControlError
from waitlab.history import Calibration, append, calibration, chapter
from waitlab.runs import Run, Series

__all__ = [
    "Calibration", "Prediction", "calibration", "main_series", "measured", "next_guess", "off_by", "predict",
    "show", "tagged_guesses", "verdict",
]  # fmt: skip

NO_GUESS = "-"
INNOCENTS = ("fast", "normal", "user", "requests", "served")
_queue: list[str] = []
_from_environment: list[str] | None = None
_earlier: dict[tuple[str, ...], float] = {}


class Prediction:
    """A guess, read when it is needed: `value` is None until the reader has given one."""

    def __init__(self, name: str, unit: str = "", *, kept: bool = True) -> None:
        self.name = name
        self.unit = unit
        self.kept = kept
        self.chapter = chapter()
        self._key = (self.chapter, name, unit, cell_id())
        self._told: set[tuple[float, str]] = set()
        self.value: float | None = _earlier.get(self._key) if kept else None

    def __repr__(self) -> str:
        return f"{self.name}: {'no guess yet' if self.value is None else show(self.value, self.unit)}"

    def give(self, text: object) -> None:
        """Takes what the reader typed (1,700 too; empty takes it back); ControlError if it is no number."""
        self.value = _parse(text, self.name, self.unit)
        if self.kept and self.value is not None:
            _earlier[self._key] = self.value
            append(self._record("guess"))

    def compare(self, run: Run) -> float | None:
        """The factor between the guess and what `run` measured, kept once a Run; None if one is missing."""
        found = measured(self, run)
        if self.value is None or found is None:
            return None
        factor = off_by(self.value, found)
        told = (self.value, f"{run.started_at} {run.line}")
        if self.kept and told not in self._told:
            self._told.add(told)
            append(
                {
                    **self._record("outcome"),
                    "measured": found,
                    "off_by": factor if factor < math.inf else None,
                }
            )
        return factor

    def _record(self, kind: str) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        named = {"chapter": self.chapter, "name": self.name, "unit": self.unit, "guess": self.value}
        return {"kind": kind, "at": now, **named}


def predict(name: str, unit: str = "", default: float | None = None) -> Prediction:
    """Shows a box for the reader's guess of `name` (p50, max, a fact's name) and returns the Prediction.

    Where no reader sits the guess is the cell's tagged one, else `default`; a reader never sees either.
    """
    given = _headless_guess(default)
    if given is None:
        guess = Prediction(name, unit)
        _show_box(guess)
        return guess
    guess = Prediction(name, unit, kept=False)
    if given != NO_GUESS:
        guess.give(given)
    print(f"The prediction of {guess}")
    return guess


def off_by(guess: float, found: float) -> float:
    """The factor between guess and measurement, at least 1; infinite if one is zero or the signs differ."""
    if guess == found:
        return 1.0
    if guess * found <= 0:
        return math.inf
    return max(guess / found, found / guess)


def main_series(run: Run) -> Series | None:
    """The series a chart or a guess is about: the innocents beside blockers, else the first but the floor."""
    named = [run.series[name] for name in INNOCENTS if name in run.series]
    others = [series for name, series in run.series.items() if name != "floor"]
    return next((series for series in [*named, *others] if series.offered), None)


def measured(guess: Prediction, run: Run) -> float | None:
    """What `run` measured of the guessed thing: `p50` of its main series, `block.max` of another, a fact."""
    where, _, field = guess.name.rpartition(".")
    wanted = field.replace(" ", "_").lower()
    names = (wanted, f"{wanted}_ms", f"{wanted}_per_s")
    series = run.series.get(where) if where else main_series(run)
    own = [getattr(series, name, None) for name in names] if series else []
    facts = [] if where else [run.facts.get(name) for name in names]
    found = next((float(value) for value in [*facts, *own] if value is not None and _is_number(value)), None)
    return found / 1000 if found is not None and guess.unit == "s" else found


def verdict(guess: Prediction, run: Run) -> str:
    """One sentence: the guess, what was measured, and by what factor the guess was off."""
    said = f"Your prediction of {guess!r}"
    if guess.value is None:
        return f"{said}."
    factor, found = guess.compare(run), measured(guess, run)
    if factor is None or found is None:
        return f"{said}; this run measured nothing of that name."
    said = f"{said}; measured: {show(found, guess.unit)}"
    if factor == math.inf:
        return f"{said}; no factor can express that."
    side = "high" if guess.value > found else "low"
    return f"{said}; right." if factor < 1.05 else f"{said}; {show(round(factor, 1))} times too {side}."


def show(value: float | None, unit: str = "") -> str:
    """A number for people: 1,700 ms, 12.5 ms, 0.25; `unknown` for None."""
    if value is None:
        return "unknown"
    size = abs(value)
    digits = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2
    text = f"{value:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text} {unit}" if unit else text


def tagged_guesses(notebook: Mapping[str, Any]) -> str:
    """A notebook's tagged guesses in the order of its `predict(` calls, as the value of WAITLAB_PREDICT."""
    found: list[str] = []
    for cell in notebook.get("cells", []):
        if cell.get("cell_type") == "code":
            tags = [tag.partition(":")[2] for tag in cell["metadata"].get("tags", []) if tag.startswith("predict:")]
            calls = "".join(cell["source"]).count("predict(")
            found += (tags + [NO_GUESS] * calls)[:calls]
    return " ".join(found)


def next_guess(value: object) -> None:
    """Answers the next `predict` in the reader's place (for tests that run cell by cell)."""
    _queue.append(str(value))


def cell_id() -> str:
    """The notebook cell that runs now, where the front end says so; else ""."""
    try:
        from IPython.core.getipython import get_ipython

        shell: Any = get_ipython()
        return str(shell.get_parent().get("metadata", {}).get("cellId", ""))
    except (ImportError, AttributeError):
        return ""


def _headless_guess(default: float | None) -> str | None:
    global _from_environment
    if _queue:
        return _queue.pop(0)
    if _from_environment is None:
        _from_environment = os.environ.get("WAITLAB_PREDICT", "").split()
    if "WAITLAB_PREDICT" not in os.environ and "WAITLAB_HEADLESS" not in os.environ:
        return None
    tagged = _from_environment.pop(0) if _from_environment else NO_GUESS
    return tagged if tagged != NO_GUESS or default is None else str(default)


def _parse(text: object, name: str, unit: str) -> float | None:
    typed = str(text).strip().replace(",", "").replace("_", "").removesuffix(unit).strip()
    if not typed:
        return None
    try:
        value = float(typed)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ControlError(f"A prediction of {name} is a number, and not {str(text)!r}.", tip="600")
    return value


def _show_box(guess: Prediction) -> None:
    """A text box with what became of it; it stays empty until the reader types."""
    import ipywidgets as widgets
    from IPython.display import display

    start = "" if guess.value is None else show(guess.value).replace(",", "")
    asked = f"What will {guess.name} be{f', in {guess.unit}' if guess.unit else ''}?"
    style, layout = {"description_width": "initial"}, {"width": "initial"}
    box = widgets.Text(
        start,
        description=asked,
        placeholder="your guess",
        continuous_update=False,
        style=style,
        layout=layout,
    )
    said = widgets.Label("no guess yet" if guess.value is None else "your guess is kept")

    def typed(change: Mapping[str, Any]) -> None:
        try:
            guess.give(change["new"])
            said.value = "no guess yet" if guess.value is None else "your guess is kept"
        except ControlError as error:
            said.value = error.text.replace("\n", " ")

    box.observe(typed, "value")
    display(widgets.HBox([box, said]))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
