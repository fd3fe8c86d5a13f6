"""What can go wrong, said to a reader in one sentence.

The one exception tree of the package (exit code of the command line in brackets):

    WaitlabError
    ├── ControlError        a control, argument or name is wrong; nothing was started  (2)
    ├── BuildError          the servers could not be fetched or built                  (3)
    ├── ServiceError        a service could not start, or is not what was asked for    (3)
    │   ├── ServiceDied     it ended by itself
    │   │   └── MainEnded   it ran out of memory or time, which may be what was to be seen
    │   ├── ServiceTimeout  it did not answer within its deadline
    │   └── RecordedOnly    the recorded runtime has no servers
    ├── LoadError           the load engine failed                                     (3)
    └── Interrupted         the reader stopped it before anything was measured         (130)

Every error has what was wanted, what was found, and one line that starts `Try:`.
"""

from __future__ import annotations

from typing import Any

_QUOTED = 60
"""Characters of a refused value that a sentence repeats."""


def quoted(value: object) -> str:
    """A refused value for a sentence: as Python writes it, cut short where it is long."""
    try:
        text = repr(value)
    except Exception:  # a number of 5,000 digits has no text, and a stranger's object may have none
        return f"this {type(value).__name__}"
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}... ({len(text):,} characters)"


class WaitlabError(Exception):
    """A failure told as a sentence, with what was found and what to try."""

    exit_code = 1

    def __init__(self, what: str, *, found: str = "", tip: str) -> None:
        self.what = what
        self.found = found
        self.tip = tip
        super().__init__(self.text)

    @property
    def text(self) -> str:
        """The whole message: sentence, `Found:` where something was found, `Try:`."""
        found = [f"Found: {self.found}"] if self.found else []
        return "\n".join([self.what, *found, f"Try: {self.tip}"])

    def __str__(self) -> str:
        return self.text

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines instead of a traceback."""
        return self.text.splitlines()


class ControlError(WaitlabError):
    """A control, argument or name is wrong; nothing was started."""

    exit_code = 2


class BuildError(WaitlabError):
    """The servers could not be fetched or built."""

    exit_code = 3


class ServiceError(WaitlabError):
    """A service could not start, or is not what was asked for."""

    exit_code = 3


class ServiceDied(ServiceError):
    """A service ended by itself."""


class MainEnded(ServiceDied):
    """An experiment on the plain JVM ended before it was done: `how` is out_of_memory or wall_limit.

    `lines` are the objects that it had printed by then.
    """

    def __init__(self, what: str, *, how: str, lines: list[dict[str, Any]], found: str, tip: str) -> None:
        self.how = how
        self.lines = lines
        super().__init__(what, found=found, tip=tip)


class ServiceTimeout(ServiceError):
    """A service did not answer within its deadline."""


class RecordedOnly(ServiceError):
    """The recorded runtime has no servers; a run is replayed instead."""


class LoadError(WaitlabError):
    """The load engine failed."""

    exit_code = 3


class Interrupted(WaitlabError):
    """The reader stopped it before anything was measured; the servers go on."""

    exit_code = 130
