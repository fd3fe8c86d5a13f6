"""Ends a lab's containers with the lab: one process beside the supervisor's other children.

    python docker_guard.py FOLDER LAB_ID     FOLDER/lab.json says what else the supervisor runs

It waits for SIGTERM, or for the supervisor's death, and then removes every container, network and volume that
carries the lab's label, again and again until nothing is left. Where it came in the middle of a start, the engine
may still be making what it was asked for: then it waits until nothing new has come for a while.
It is run as a script, and must start at once.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from pathlib import Path

from docker_removal import MAKER, MAKING, remove
from processes import born

QUIET_S = 3.0
"""How long nothing new must come where containers were being made."""
GIVE_UP_S = 24.0
"""How long the engine may refuse to remove what is left."""


def main(folder: Path, lab_id: str) -> int:
    """Waits for the end, then removes; 0 if nothing is left."""
    supervisor = os.getppid()
    reader = _wake_on_signals()
    _wait_for_the_end(reader, supervisor)
    quiet_s = QUIET_S if (folder / "work" / MAKING).exists() else 0.0
    end = time.monotonic() + GIVE_UP_S
    last = time.monotonic()
    while time.monotonic() < end:
        found = remove(lab_id)
        if found is None or found or _makes(folder):
            last = time.monotonic()
        if found is not None and not _makes(folder) and time.monotonic() - last >= quiet_s:
            return 0
        select.select([], [], [], 0.2)
    return 1


def _makes(folder: Path) -> bool:
    """Whether the supervisor still runs what makes containers."""
    try:
        maker = json.loads((folder / "lab.json").read_text(encoding="utf-8"))["services"].get(MAKER, {})
    except (OSError, ValueError, KeyError):
        return False
    return bool(maker.get("born")) and born(maker["pid"]) == maker["born"]


def _wake_on_signals() -> int:
    """A pipe that becomes readable on a signal; SIGTERM alone means the end."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: None)
    return reader


def _wait_for_the_end(reader: int, supervisor: int) -> None:
    """Returns on SIGTERM, or when another process has become the parent."""
    while os.getppid() == supervisor:
        if select.select([reader], [], [], 0.5)[0] and signal.SIGTERM in os.read(reader, 64):
            return


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
