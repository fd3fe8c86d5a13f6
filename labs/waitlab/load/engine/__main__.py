"""Reads a plan from stdin and carries it out."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
from typing import Any

from .machine import RefusalError, make_room
from .runner import Runner
from .wire import STDIN, StopError, say


def read_plan() -> dict[str, Any]:
    """The plan: the first line of stdin, read without a buffer so that later lines stay in the pipe."""
    line = bytearray()
    while not line.endswith(b"\n"):
        part = os.read(STDIN, 65536)
        if not part:
            raise StopError
        line += part
    plan: dict[str, Any] = json.loads(line)
    return plan


def main() -> None:
    """Carries out the plan on stdin; the terminal's Interrupt is the owner's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # a collection would make requests late
    with contextlib.suppress(BrokenPipeError, StopError):
        plan = read_plan()
        try:
            make_room(plan)
            runner = Runner(plan)
            with contextlib.suppress(StopError):
                runner.prepare()
            runner.run()
        except RefusalError as refusal:
            say({"error": refusal.args})


main()
