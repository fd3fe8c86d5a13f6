"""The widget that `explore` shows: sliders, buttons, progress, the figure, and what is to be said under it.

Whatever an error or a server said is put in as text, never as markup.
"""

from __future__ import annotations

import html
import time
from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets

EVERY_S = 0.1
WIDE = "900px"
COLUMNS = {"grid_template_columns": "repeat(auto-fit, minmax(min(100%, 320px), 1fr))", "width": "auto"}
"""Sliders stand in two columns, and in one where there is no room for two."""


class Panel:
    """The widget's parts, and the few sentences in which it speaks; safe to call from any thread."""

    def __init__(self, knobs: Mapping[str, Any], figure: Any) -> None:
        self._told = 0.0
        self.run = widgets.Button(description="Run", button_style="primary", icon="play", layout={"width": "150px"})
        self.stop = widgets.Button(description="Stop", icon="stop", disabled=True, layout={"width": "90px"})
        self.on_change = widgets.Checkbox(False, description="run on every change", indent=False)
        self.bar = widgets.FloatProgress(0.0, min=0.0, max=1.0, layout={"width": "180px", "visibility": "hidden"})
        self.message = widgets.Label("", layout={"max_width": WIDE})
        self.theory = widgets.HTML()
        self.under = widgets.HTML()
        self.on_change.layout.width = "190px"
        row = {"align_items": "center", "flex_flow": "row wrap"}
        sliders = widgets.GridBox(list(knobs.values()), layout=COLUMNS)
        buttons = widgets.HBox([self.run, self.stop, self.on_change, self.bar, self.message], layout=row)
        parts = [sliders, self.theory, buttons, figure, self.under]
        self.box = widgets.VBox(parts, layout={"max_width": WIDE, "width": "100%"})
        self.box.add_class("waitlab-explore")

    def enter(self, state: str) -> None:
        """Shows the state: what the buttons may do, and whether there is progress."""
        busy = state != "idle"
        self.run.description = {"idle": "Run", "running": "Running …", "stopping": "Stopping …"}[state]
        self.run.button_style = "" if busy else "primary"
        self.run.icon = "hourglass-half" if busy else "play"
        self.stop.disabled = state != "running"
        self.bar.layout.visibility = "visible" if busy else "hidden"
        if state == "running":
            self.bar.value = 0.0
            self.bar.bar_style = ""
            self.tell("starting")

    def progress(self, share: float, text: str) -> None:
        """Progress of the run (share done, words), shown at most ten times a second."""
        now = time.monotonic()
        if now - self._told >= EVERY_S or share >= 1:
            self._told = now
            self.bar.value = min(max(float(share), 0.0), 1.0)
            self.tell(text)

    def tell(self, text: str) -> None:
        """A short sentence beside the buttons."""
        self.message.value = " ".join(str(text).split())

    def predict(self, text: str) -> None:
        """What the model says about the sliders as they are."""
        self.theory.value = _lines([f"Theory: {text}"] if text else [])

    def refuse(self, text: str) -> None:
        """Why there is no model for the sliders as they are."""
        self.theory.value = alert(text)

    def say(self, line: str, caption: Sequence[str]) -> None:
        """What was measured."""
        self.tell("")
        self.under.value = _lines([line, *caption])

    def fail(self, text: str) -> None:
        """What went wrong, in the words of the error, as text."""
        self.tell("")
        self.under.value = alert(text)


def alert(text: str) -> str:
    """A refusal or a failure as HTML: red, escaped, read out by screen readers."""
    return f'<div role="alert" style="color:#c8102e;white-space:pre-wrap;line-height:1.45">{html.escape(text)}</div>'


def _lines(lines: Sequence[str]) -> str:
    body = "".join(f"<div>{html.escape(line)}</div>" for line in lines)
    return f'<div style="font-size:90%;line-height:1.45;overflow-wrap:anywhere">{body}</div>'
