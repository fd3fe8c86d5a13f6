"""Child processes of a build: they end with the process that started them, however that ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_GUARD = Path(__file__).with_name("guard.py")


class Guarded:
    """A running command; leaving `guarded()` or calling `stop()` ends it."""

    def __init__(self, process: subprocess.Popen[str], grace_s: float) -> None:
        self._process = process
        self._grace_s = grace_s

    def lines(self) -> Iterator[str]:
        """The command's output, line by line as it comes."""
        assert self._process.stdout is not None
        return (line.rstrip("\n") for line in self._process.stdout)

    def wait(self, timeout_s: float | None = None) -> int:
        """Waits for the end, raises TimeoutExpired; returns the exit code (128 + signal if one ended it)."""
        return self._process.wait(timeout_s)

    def stop(self) -> int:
        """Ends the command: SIGTERM, and SIGKILL after the grace; returns the exit code."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        return self._process.wait(self._grace_s + 10)


@contextmanager
def guarded(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    output: int | IO[str] = subprocess.PIPE,
    grace_s: float = 5,
    held: bool = False,
) -> Iterator[Guarded]:
    """Runs a command with stdout and stderr in `output`; it is ended when the block is left.

    `held`: the command's stdin is a pipe that closes when its guard is gone, however that went; else it is empty.
    """
    process = subprocess.Popen(
        [sys.executable, "-I", _GUARD, *(["--held"] if held else []), str(grace_s), *command],
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        encoding="utf-8",
        errors="replace",
    )
    running = Guarded(process, grace_s)
    try:
        yield running
    finally:
        running.stop()
        if process.stdout is not None:
            process.stdout.close()
