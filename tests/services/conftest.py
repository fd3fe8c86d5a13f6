"""What the tests of services share: a state folder of their own, one lab for all, and a look at what runs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from owners import own_state, owners
from waitlab.services import open_lab, runtimes
from waitlab.services.embedded import EmbeddedLab

OWNER = Path(__file__).with_name("owner.py")


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of their own for the state of labs."""
    with own_state(tmp_path_factory) as folder:
        yield folder


@pytest.fixture(scope="session")
def built() -> str:
    """The runtime that can start servers here; skips where there is none."""
    lacking = runtimes.embedded_lacks()
    if lacking or not runtimes.is_built():
        pytest.skip(lacking or "the apps are not built")
    return "embedded"


@pytest.fixture(scope="session")
def lab(built: str) -> Iterator[EmbeddedLab]:
    """One lab for every test that leaves it usable."""
    with open_lab(built) as opened:
        assert isinstance(opened, EmbeddedLab)
        yield opened


@dataclass
class Owner:
    """A process that owns a lab, and what it told of it."""

    process: subprocess.Popen[str]
    lab_id: str
    folder: Path
    pids: list[int]
    folders: list[Path] = field(default_factory=list)

    def left(self) -> list[str]:
        """What is left of its lab: processes and folders."""
        processes = [f"{p.pid} {p.name()}" for p in map(_process, self.pids) if p]
        return processes + [str(each) for each in (self.folder, *self.folders) if each.exists()]


@pytest.fixture
def own() -> Iterator[Callable[..., Owner]]:
    """Starts a process that opens a lab: `own("webflux")`, or with other words that owner.py knows."""
    with owners(OWNER) as start:
        yield lambda *words: _owner(*start(*words))


def _owner(process: subprocess.Popen[str], told: dict[str, str]) -> Owner:
    folder = Path(told["folder"])
    word = json.loads((folder / "lab.json").read_text(encoding="utf-8"))
    roots = [word["supervisor"]["pid"], *(service["pid"] for service in word["services"].values())]
    pids = {pid for root in roots for pid in (root, *(c.pid for c in psutil.Process(root).children(True)))}
    return Owner(process, told["lab_id"], folder, sorted(pids), [Path(f) for f in word["folders"]])


def _process(pid: int) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process
    except psutil.NoSuchProcess:
        return None


@pytest.fixture
def thaw() -> Iterator[list[int]]:
    """Processes that a test froze: woken at its end, whatever happened."""
    frozen: list[int] = []
    yield frozen
    for pid in frozen:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
