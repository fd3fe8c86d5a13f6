"""Runs one command that must not outlive its owner: `python -I guard.py [--held] GRACE_S COMMAND...`.

The owner holds the other end of this process's stdin. When that closes, whether on purpose or because
the owner was killed, the command gets SIGTERM and, GRACE_S seconds later, SIGKILL. The exit code is the
command's (128 + the signal's number where a signal ended it). With --held the command's stdin stays open for as long
as this process lives, so that whoever reads it far away learns of the end; else it is empty.
"""

from __future__ import annotations

import subprocess
import sys
import threading


def main(arguments: list[str]) -> int:
    """Starts the command and waits for it; returns its exit code."""
    held = arguments[0] == "--held"
    grace_s, *command = arguments[held:]
    child = subprocess.Popen(command, stdin=subprocess.PIPE if held else subprocess.DEVNULL)
    watch = threading.Thread(target=_end_with_owner, args=(child, float(grace_s)), daemon=True)
    watch.start()
    code = child.wait()
    return code if code >= 0 else 128 - code


def _end_with_owner(child: subprocess.Popen[bytes], grace_s: float) -> None:
    sys.stdin.buffer.read()
    child.terminate()
    try:
        child.wait(grace_s)
    except subprocess.TimeoutExpired:
        child.kill()


if __name__ == "__main__":
    import os

    os._exit(main(sys.argv[1:]))
