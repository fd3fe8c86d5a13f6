"""What the tests of services share in both runtimes: a state folder of their own, processes that own a lab, waiting."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from waitlab.services import state

Told = dict[str, str]


@contextmanager
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the state of labs, with a space and an accent in its name; what is left in it is ended."""
    folder = tmp_path_factory.mktemp("state") / "my lab é"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WAITLAB_STATE", str(folder))
        yield folder
        state.down()


@contextmanager
def owners(script: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[str], Told]]]:
    """Starts processes that open a lab, by the words that `script` knows; each with the first line it told."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> tuple[subprocess.Popen[str], Told]:
        process = subprocess.Popen(
            [sys.executable, str(script), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())

    yield start
    for process in started:
        process.kill()
        process.communicate()


def wait_until(holds: Callable[[], object], within_s: float) -> bool:
    """Waits until something holds; False if it never does."""
    end = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
