"""What Docker does, told while it does it: steps of a build, bytes of a pull, as one bar."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence

from waitlab.services.folders import Say

_STEP = re.compile(r"^#\d+ \[(?:(\w+) )?\s*(\d+)/(\d+)\] (.*)")
_BYTES = re.compile(r"([\d.]+)([kMG]?B) / ([\d.]+)([kMG]?B)")
_UNITS = {"B": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
_NOISE = ("#", "------", "failed to solve", " > ")


class Steps:
    """Follows the plain output of a build of `services` and tells `say` how far it is."""

    def __init__(self, services: Sequence[str], say: Say) -> None:
        self._say = say
        self._all = dict.fromkeys(services, (0, 0))
        self._last: list[str] = []
        self._told = 0.0

    def take(self, line: str) -> None:
        """One line of the build's output."""
        self._last = [*self._last[-19:], line]
        step, size = _STEP.match(line), _BYTES.search(line)
        if step:
            service = step[1] if step[1] in self._all else next(iter(self._all))
            self._all[service] = (int(step[2]), int(step[3]))
            self._tell(f"{service}: {step[4][:48]}")
        elif size and time.monotonic() - self._told > 0.5:
            done, of = (float(size[i]) * _UNITS[size[i + 1]] for i in (1, 3))
            self._tell(f"fetching {done:.0f} of {of:.0f} MB")

    @property
    def complaint(self) -> str:
        """What the build said last, for a sentence."""
        errors = [line for line in self._last if "ERROR" in line or "error" in line.lower()]
        said = errors or self._last or ["nothing was said"]
        return re.sub(r"^#\d+ ", "", said[-1]).strip()[:300]

    def _tell(self, what: str) -> None:
        self._told = time.monotonic()
        done = sum(step for step, _ in self._all.values())
        of = sum(steps for _, steps in self._all.values())
        self._say(f"{bar(done, of)} building images, {what}")


def bar(done: int, of: int, width: int = 20) -> str:
    """A bar of `width` signs."""
    full = round(width * done / of) if of else 0
    return f"[{'#' * full}{'.' * (width - full)}]"


class Line:
    """Says things on standard error: in a terminal or notebook on one line that is overwritten, else line by line."""

    def __init__(self) -> None:
        self._overwrites = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._wide = 0

    def __call__(self, text: str) -> None:
        """Says one thing."""
        if self._overwrites:
            print(f"\r{text:<{self._wide}}", end="", file=sys.stderr, flush=True)
            self._wide = len(text)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Removes the line that is being overwritten."""
        if self._overwrites and self._wide:
            print(f"\r{' ' * self._wide}\r", end="", file=sys.stderr, flush=True)
            self._wide = 0
