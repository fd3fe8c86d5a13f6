"""How a run tells what it does: one output in a notebook that becomes the Run's line, or one line in a terminal."""

from __future__ import annotations

import html
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from waitlab.experiments.base import Progress
    from waitlab.runs import Run

MIMETYPE = "application/vnd.waitlab.run+json"
EVERY_S = 0.2


class Teller:
    """Shows progress while a run lasts, the Run's line at its end. With a `progress` of its own it only passes on."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._output = None if progress else _notebook_output()
        self._last = 0.0

    def __enter__(self) -> Teller:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is not None and self._output is not None:
            self._output.update({"text/plain": ""}, raw=True)

    def told(self, share: float, text: str) -> None:
        """Passes progress on, at most five times a second."""
        if self._progress is not None:
            self._progress(share, text)
        elif self._output is not None and time.monotonic() - self._last > EVERY_S:
            self._last = time.monotonic()
            self._output.update({"text/plain": f"... {text}"}, raw=True)

    def end(self, run: Run) -> Run:
        """Shows the Run's line, with the Run beside it for programs that read the notebook."""
        if self._progress is not None:
            return run
        if self._output is not None:
            self._output.update({**unbroken(run.line), MIMETYPE: run.to_dict()}, raw=True)
            _remember(run)
        else:
            print(run.line)
        return run


def unbroken(line: str) -> dict[str, str]:
    """The line as an output: JupyterLab breaks plain text within words, and this between them."""
    style = "margin:0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere"
    return {"text/plain": line, "text/html": f'<pre style="{style}">{html.escape(line)}</pre>'}


def _notebook_output() -> Any:
    """A display handle in a notebook, else None."""
    shell = _shell()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display({"text/plain": "..."}, raw=True, display_id=True)


def _shell() -> Any:
    interactive = sys.modules.get("IPython")
    return interactive.get_ipython() if interactive is not None else None


_shown: tuple[int, int] | None = None


def _remember(run: Run) -> None:
    global _shown
    shell = _shell()
    _shown = (id(run), shell.execution_count) if shell is not None else None


def already_shown(run: Run) -> bool:
    """True where this cell has just shown this Run's line, so that a last expression need not repeat it."""
    shell = _shell()
    return shell is not None and _shown == (id(run), shell.execution_count)
