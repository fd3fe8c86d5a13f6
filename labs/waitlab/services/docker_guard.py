"""Ends a lab's containers with the lab: one process beside the supervisor's other children.

    python docker_guard.py FOLDER LAB_ID     FOLDER/lab.json says what else the supervisor runs

It waits for SIGTERM, or for the supervisor's death, and then removes every container, network and volume that
carries the lab's label, again and again until nothing is left and nothing that could make new ones still runs.
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

from docker_removal import MAKER, remove
from processes import born

GIVE_UP_S = 24.0
"""How long the engine may refuse to remove what is left."""


def main(folder: Path, lab_id: str) -> int:
    """Waits for the end, then removes; 0 if nothing is left."""
    supervisor = os.getppid()
    reader = _wake_on_signals()
    _wait_for_the_end(reader, supervisor)
    end = time.monotonic() + GIVE_UP_S
    while time.monotonic() < end:
        busy = _others(folder)
        if remove(lab_id) and not busy:
            return 0
        select.select([], [], [], 0.1)
    return 1


def _others(folder: Path) -> bool:
    """Whether the supervisor still runs something that could make containers."""
    try:
        services = json.loads((folder / "lab.json").read_text(encoding="utf-8"))["services"]
    except (OSError, ValueError, KeyError):
        return False
    maker = services.get(MAKER, {})
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
