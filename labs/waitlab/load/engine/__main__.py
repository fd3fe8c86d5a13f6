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


def read_plan() -> tuple[dict[str, Any], bool]:
    """The plan, the first line of stdin, and whether a word to stop came right behind it.

    Read without a buffer, so that later lines stay in the pipe.
    """
    read = bytearray()
    while b"\n" not in read:
        part = os.read(STDIN, 65536)
        if not part:
            raise StopError
        read += part
    line, _, after = read.partition(b"\n")
    return json.loads(line), b"stop" in after


def main() -> None:
    """Carries out the plan on stdin; the terminal's Interrupt is the owner's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # a collection would make requests late
    with contextlib.suppress(BrokenPipeError, StopError):
        plan, stopped = read_plan()
        try:
            make_room(plan)
            runner = Runner(plan)
            runner.wire.stopped = stopped
            with contextlib.suppress(StopError):
                if not stopped:
                    runner.prepare()
            runner.run()
        except RefusalError as refusal:
            say({"error": refusal.args})


main()
