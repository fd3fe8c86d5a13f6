"""What the tests on Docker share. Without an engine, all of them are skipped with the reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from waitlab.services import docker_leftovers, docker_probe, state
from waitlab.services.app import App
from waitlab.services.docker_lab import DockerLab
from waitlab.services.docker_probe import DockerFacts
from waitlab.services.docker_removal import LABEL

OWNER = Path(__file__).with_name("docker_owner.py")


@pytest.fixture(scope="session", autouse=True)
def engine() -> DockerFacts:
    """The engine; skips every test here where there is none that can serve."""
    lacking = docker_probe.lacks()
    if lacking:
        pytest.skip(f"no Docker: {lacking}")
    return docker_probe.probe_engine()


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the state of labs, with a space and an accent in its name."""
    before = os.environ.get("WAITLAB_STATE")
    folder = tmp_path_factory.mktemp("state") / "my lab é"
    os.environ["WAITLAB_STATE"] = str(folder)
    yield folder
    state.down()
    if before is None:
        del os.environ["WAITLAB_STATE"]
    else:
        os.environ["WAITLAB_STATE"] = before


@pytest.fixture(scope="session")
def lab(engine: DockerFacts) -> Iterator[DockerLab]:
    """One lab for every test that leaves it usable."""
    with DockerLab("for the tests", engine) as opened:
        yield opened


@pytest.fixture
def webflux(lab: DockerLab) -> App:
    """The app with its defaults, whatever the last test made of it."""
    return lab.app("webflux", cpus=2)


@pytest.fixture
def as_it_is(lab: DockerLab) -> App:
    """The app with whatever settings it has."""
    return lab.app("webflux")


@dataclass
class Owner:
    """A process that owns a lab, and the lab's id."""

    process: subprocess.Popen[str]
    lab_id: str
    folder: Path
    host: str

    def tells(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def left(self) -> list[str]:
        """What is left of its lab in the engine and on disk."""
        found = docker_leftovers.labelled(self.host, f"{LABEL}={self.lab_id}")
        names = [str(each.get("Names") or each.get("Name")) for each in found]
        return names + ([str(self.folder)] if self.folder.exists() else [])


@pytest.fixture
def own(engine: DockerFacts) -> Iterator[Callable[..., Owner]]:
    """Starts a process that opens a lab: `own("webflux")`, or with other words that docker_owner.py knows."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> Owner:
        process = subprocess.Popen(
            [sys.executable, str(OWNER), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        return Owner(process, told["lab_id"], Path(told["folder"]), engine.host)

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], object], float], bool]:
    """Waits until something holds: `until(lambda: not owner.left(), 30.0)`; False if it never does."""

    def wait(holds: Callable[[], object], within_s: float) -> bool:
        end, pause = time.monotonic() + within_s, time.sleep
        while not holds():
            if time.monotonic() > end:
                return False
            pause(0.05)
        return True

    return wait
