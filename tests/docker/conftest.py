"""What the tests on Docker share. Without an engine, all of them are skipped with the reason."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from owners import own_state, owners
from waitlab.services import docker_leftovers, docker_probe
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
    """A folder of their own for the state of labs."""
    with own_state(tmp_path_factory) as folder:
        yield folder


@pytest.fixture(scope="session")
def lab(engine: DockerFacts) -> Iterator[DockerLab]:
    """One lab for every test that leaves it usable."""
    with DockerLab("for the tests", engine) as opened:
        yield opened


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
    with owners(OWNER) as start:

        def told(*words: str) -> Owner:
            process, said = start(*words)
            return Owner(process, said["lab_id"], Path(said["folder"]), engine.host)

        yield told
