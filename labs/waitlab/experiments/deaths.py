"""Who died in the middle of a run: what is waited for then will not come, so the run is cut off and says so.

Cut             the reader's Stop, and the death of a server or of the database in use, as one event
died_s()        when the first of those in use died
check_alive()   the same as an error, where nothing was measured yet
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from waitlab.errors import ServiceDied

if TYPE_CHECKING:
    from waitlab.services import App

LINGER_S = 0.5
"""How long a run goes on after a death, s: what was on its way fails in its own manner."""
DATABASE_DIED = "the database ended by itself"


class Cut(threading.Event):
    """Set where one of `stops` is, or `LINGER_S` after what `died_s` tells; to be looked at, not waited for."""

    def __init__(self, died_s: Callable[[], float | None], *stops: threading.Event) -> None:
        super().__init__()
        self._died_s, self._stops = died_s, stops

    def is_set(self) -> bool:
        """Whether the run must end."""
        return self.stopped or self.late

    @property
    def stopped(self) -> bool:
        """Whether somebody wants it to end."""
        return super().is_set() or any(stop.is_set() for stop in self._stops)

    @property
    def late(self) -> bool:
        """Whether somebody has been dead for so long that nothing more is to be expected."""
        at = self._died_s()
        return at is not None and time.monotonic() - at > LINGER_S


def died_s(apps: Iterable[App]) -> float | None:
    """When the first of these servers, or their database, died (monotonic seconds); None while all live."""
    every = (at for app in apps for at in (app.died_s(), app.database_died_s()) if at is not None)
    return min(every, default=None)


def check_alive(app: App) -> None:
    """ServiceDied if the server or its database has ended before anything was measured."""
    app.check_alive()
    if app.database_died_s() is not None:
        raise database_gone(f"The database behind {app.name}")


def database_gone(who: str = "The database") -> ServiceDied:
    """The death of the database where nothing was measured yet, as an error."""
    return ServiceDied(
        f"{who} ended by itself.",
        found="it went before anything was measured",
        tip="run the cell again: it is started anew.",
    )
