"""Controls: the named, bounded values an experiment takes, and how text becomes one.

A control never guesses: a boolean is no number, 1.5 is no whole number, an empty text is no value.
Every refusal names the control, its unit and its range, and happens before anything is started.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from waitlab.errors import ControlError, quoted

Value = int | float | str | bool
Settings = Mapping[str, Value]
Default = Value | Callable[[Settings], Value]


@dataclass(frozen=True, slots=True)
class Control:
    """One control: `kind` is int, float, bool or str (then `choices` holds its values).

    `default` may be a function of the controls set before it, `computed` says how in words. `why` is the reason
    against fractions, told where one is refused.
    """

    name: str
    kind: type
    default: Default
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    computed: str = ""
    help: str = ""
    why: str = ""

    @property
    def range(self) -> str:
        """The allowed values, for people."""
        if self.kind is bool:
            return "true or false"
        if self.choices:
            return ", ".join(self.choices)
        kind = "whole numbers " if self.kind is int else ""
        return f"{kind}{_show(self.low)} to {_show(self.high)}{f' {self.unit}' if self.unit else ''}"

    def parse(self, value: object) -> Value:
        """`value` (a Python value, or text from a shell) as this control's value; ControlError if it is none."""
        parsed = _PARSERS[self.kind](value)
        if parsed is None or not self._allows(parsed):
            raise ControlError(
                f"The control {self.name} takes {self.range}, and not {quoted(value)}{self._reason(value)}.",
                tip=f"{self.name}={self.example}",
            )
        return parsed

    def default_for(self, settings: Settings) -> Value:
        """The default, given the controls that are already set; one that is computed stays in the range."""
        if not callable(self.default):
            return self.default
        value = self.default(settings)
        if isinstance(value, str) or self._allows(value):
            return value
        near = self.low if self.low is not None and value < self.low else self.high
        return self.kind(near)

    @property
    def example(self) -> str:
        """A value that works, for the `Try:` line."""
        if callable(self.default):
            return _show(self.low)
        return str(self.default).lower() if self.kind is bool else _show(self.default)

    def _reason(self, value: object) -> str:
        """Why a fraction is refused, where the control has a reason of its own."""
        number = _float(value)
        return f": {self.why}" if self.why and number is not None and not number.is_integer() else ""

    def _allows(self, value: Value) -> bool:
        if self.choices:
            return value in self.choices
        if self.low is None or self.high is None or isinstance(value, str):
            return True
        return self.low <= value <= self.high


def settle(controls: Iterable[Control], given: Mapping[str, object], experiment: str) -> dict[str, Any]:
    """All controls with their values: those given, parsed; the others by default."""
    controls = tuple(controls)
    for name in given:
        if name not in {control.name for control in controls}:
            raise _unknown(name, [control.name for control in controls], experiment)
    settled = {c.name: c.parse(given[c.name]) for c in controls if c.name in given}
    for control in controls:
        if control.name not in settled:
            settled[control.name] = control.default_for(settled)
    return {control.name: settled[control.name] for control in controls}


def nearest(name: str, known: Iterable[str]) -> str:
    """The known names closest to `name`, as a phrase for a `Try:` line."""
    known = list(known)
    close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4)
    return " or ".join(close or known)


def _unknown(name: str, known: list[str], experiment: str) -> ControlError:
    if not known:
        return ControlError(f"{experiment} has no controls, so {name} cannot be set.", tip=f"{experiment} without it")
    return ControlError(f"{experiment} has no control named {quoted(name)}.", tip=nearest(name, known))


def _show(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _int(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    text = value.strip() if isinstance(value, str) else ""
    digits = text[1:] if text[:1] in "+-" else text
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not value.isascii():
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if number == number and abs(number) != float("inf") and "_" not in str(value) else None


def _bool(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else None


def _str(value: object) -> str | None:
    return value if isinstance(value, str) else None


_PARSERS: dict[type, Callable[[object], Value | None]] = {int: _int, float: _float, bool: _bool, str: _str}
