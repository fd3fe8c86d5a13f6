"""The decision sheet with sliders: every move fills the table again, and nonsense gets a sentence in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from waitlab.controls import Control, Value, nearest, settle
from waitlab.deciding import CONTROLS
from waitlab.errors import ControlError, WaitlabError
from waitlab.widgets.knobs import Knobs
from waitlab.widgets.panel import COLUMNS, WIDE, alert

if TYPE_CHECKING:
    from waitlab.deciding import Sheet

__all__ = ["SheetExplorer"]


class SheetExplorer:
    """The widget behind `explore(decide)`: `sheet` is the table that is shown, `set` moves sliders."""

    def __init__(
        self,
        decide: Callable[..., Sheet],
        *,
        show: Sequence[str] | None = None,
        fixed: Mapping[str, object] | None = None,
    ) -> None:
        self._decide = decide
        self._fixed = dict(fixed or {})
        self.sheet = decide(**self._fixed)
        settings = settle(CONTROLS, self._fixed, "decide")
        self.knobs = Knobs(_chosen(show, self._fixed), settings, self._moved)
        self._table = widgets.HTML(layout={"width": "auto"})
        self.box = self._laid_out()
        self._moved()

    def __repr__(self) -> str:
        return repr(self.sheet)

    def _ipython_display_(self) -> None:
        """Shown by `explore` already; as the last expression of a cell it says nothing more."""

    def set(self, **values: Value) -> None:
        """Moves sliders, as a reader would."""
        self.knobs.set(**values)

    def close(self) -> None:
        """Takes the widget away."""
        self.box.close()

    def _laid_out(self) -> Any:
        sliders = widgets.GridBox(list(self.knobs.widgets.values()), layout=COLUMNS)
        box = widgets.VBox([sliders, self._table], layout={"max_width": WIDE, "width": "100%"})
        box.add_class("waitlab-decide")
        return box

    def _moved(self) -> None:
        given = {**self._fixed, **self.knobs.given}
        try:
            self.knobs.follow(settle(CONTROLS, given, "decide"))
            self.sheet = self._decide(**given)
        except WaitlabError as error:
            self._table.value = alert(error.text)
            return
        self._table.value = self.sheet._repr_html_()


def _chosen(names: Sequence[str] | None, fixed: Mapping[str, object]) -> list[Control]:
    """The controls that get a slider: those named, else all that are not fixed."""
    known = {control.name: control for control in CONTROLS}
    for name in names or ():
        if name not in known:
            raise ControlError(f"The decision sheet has no control named {name!r}.", tip=nearest(name, known))
    return [known[name] for name in names] if names else [c for c in CONTROLS if c.name not in fixed]
