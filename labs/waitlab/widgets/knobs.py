"""Controls as widgets: a slider for a number, a menu for a choice, a tick for yes or no.

A knob that the reader has not moved follows its computed default (event_loops follows cpus), one that was
moved stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ipywidgets as widgets

from waitlab.controls import Control, Value

NARROW = 40
_STYLE = {"description_width": "150px"}
_LAYOUT = {"width": "98%"}


class Knobs:
    """The widgets of some controls; `given` holds what the reader set, `moved` is called after each move."""

    def __init__(self, controls: Iterable[Control], settings: Mapping[str, Value], moved: Callable[[], None]) -> None:
        self._controls = {control.name: control for control in controls}
        self._moved = moved
        self._following = False
        self.given: dict[str, Value] = {}
        self.widgets = {name: _widget(control, settings[name]) for name, control in self._controls.items()}
        for name, widget in self.widgets.items():
            widget.observe(lambda change, name=name: self._turned(name, change["new"]), "value")

    def set(self, **values: Value) -> None:
        """Moves knobs as a reader would."""
        for name, value in values.items():
            self._show(name, value)

    def follow(self, settings: Mapping[str, Value]) -> None:
        """Shows the settled values of the knobs that nobody has moved."""
        self._following = True
        try:
            for name in self.widgets:
                if name not in self.given:
                    self._show(name, settings[name])
        finally:
            self._following = False

    def _show(self, name: str, value: Value) -> None:
        widget = self.widgets[name]
        if isinstance(widget, widgets.SelectionSlider) and value not in widget.options:
            widget.options = tuple(sorted({*widget.options, self._controls[name].parse(value)}))
        if widget.value != value:
            widget.value = value

    def _turned(self, name: str, value: Value) -> None:
        if not self._following:
            self.given[name] = value
            self._moved()


def steps(low: float, high: float, kind: type) -> list[float]:
    """Values from `low` to `high` for a wide range: whole numbers first, then 1, 1.5, 2, 3 ... of each ten."""
    first = math.floor(math.log10(low)) if low > 0 else 0
    last = math.ceil(math.log10(max(high, 1)))
    grid = {digit * 10.0**power for power in range(first, last + 1) for digit in (1, 1.5, 2, 3, 4, 5, 6, 8)}
    small = {float(n) for n in range(11)} if kind is int else set()
    inside = sorted(value for value in {*grid, *small, low, high} if low <= value <= high)
    return sorted({round(value) for value in inside}) if kind is int else [float(f"{v:.6g}") for v in inside]


def _widget(control: Control, value: Value) -> Any:
    unit = f", {control.unit}" if 0 < len(control.unit) <= 3 else ""
    common = {
        "description": f"{control.name}{unit}",
        "tooltip": control.help,
        "style": _STYLE,
        "layout": _LAYOUT,
    }
    if control.kind is bool:
        return widgets.Checkbox(bool(value), indent=True, **common)
    if control.choices:
        return widgets.Dropdown(options=control.choices, value=value, **common)
    if control.kind is str or control.low is None or control.high is None:
        return widgets.Text(str(value), continuous_update=False, **common)
    if control.kind is int and control.high - control.low <= NARROW:
        return widgets.IntSlider(value=int(value), min=int(control.low), max=int(control.high), **common)
    options = sorted({*steps(control.low, control.high, control.kind), control.kind(value)})
    return widgets.SelectionSlider(options=options, value=control.kind(value), **common)
