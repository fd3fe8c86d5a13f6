"""Reads a plan from stdin and carries it out."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from typing import Any

from .machine import Refusal, make_room
from .runner import Runner
from .wire import STDIN, Stopped, say


def read_plan() -> dict[str, Any]:
    """The plan: the first line of stdin, read byte-exact so that later lines stay in the pipe."""
    line = bytearray()
    while not line.endswith(b"\n"):
        part = os.read(STDIN, 65536)
        if not part:
            raise Stopped
        line += part
    plan: dict[str, Any] = json.loads(line)
    return plan


def main() -> None:
    """Carries out the plan on stdin; the terminal's Interrupt is the owner's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(BrokenPipeError, Stopped):
        plan = read_plan()
        try:
            make_room(plan)
            runner = Runner(plan)
            with contextlib.suppress(Stopped):
                runner.prepare()
            runner.run()
        except Refusal as refusal:
            say({"error": refusal.args})


main()
