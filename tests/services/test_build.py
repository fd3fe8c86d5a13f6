"""The build itself, with Maven and Java: what it makes can be used, and what breaks leaves nothing half made."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from waitlab import paths
from waitlab.errors import BuildError
from waitlab.services import build as building
from waitlab.services import java
from waitlab.services.apps import APPS, jvm_flags
from waitlab.services.guarded import Guarded, guarded
from waitlab.services.machine import plain_environment

SPEC = APPS["webflux"]
PAIRS = 5


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The servers, built where they are not."""
    building.build(say=lambda _text: None)


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A second copy of the project's Java, in a folder with a space and an accent, not yet built."""
    root = tmp_path / "my lab é"
    shutil.copytree(paths.ROOT / "labs", root / "labs", ignore=shutil.ignore_patterns("target", "__pycache__"))
    monkeypatch.setattr(paths, "APPS", root / "labs" / "apps")
    return root


def test_nothing_to_do_starts_nothing(monkeypatch):
    """No program, and so neither Maven nor a JVM: that it takes no time follows."""

    def refused(*arguments, **_how):
        raise AssertionError(arguments)

    monkeypatch.setattr(subprocess, "Popen", refused)
    said = []
    report = building.build(say=said.append)
    assert report.built == () and said == [str(report)]


def seconds_to_port(running: Guarded, port_file: Path) -> float:
    began = time.monotonic()
    while not port_file.exists() and time.monotonic() - began < 60:
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(0.005)
    return time.monotonic() - began


def start_time(tmp_path: Path, cwd: Path, *flags: str) -> float:
    """Seconds from the start to the bound port."""
    port_file = tmp_path / f"port-{time.monotonic_ns()}"
    argv = [java.runtime_java(), *flags, *jvm_flags(SPEC, {}), "-jar", "app.jar"]
    env = {**plain_environment(), "LAB_PORT_FILE": str(port_file)}
    with guarded(argv, cwd=cwd, env=env, output=subprocess.DEVNULL) as running:
        return seconds_to_port(running, port_file)


def test_the_cache_is_used_and_halves_the_start(tmp_path):
    """By the quickest start of each kind, in turns: what disturbs a start makes it longer. A cache must be usable."""
    plain, cached = [], []
    while len(plain) < PAIRS and not (plain and min(cached) * 2 <= min(plain)):
        plain.append(start_time(tmp_path, SPEC.folder.parent))
        cached.append(start_time(tmp_path, SPEC.folder, "-XX:AOTCache=app.aot", "-XX:AOTMode=on"))
    assert min(cached) * 2 <= min(plain)


def test_a_compile_error_names_its_line_and_builds_nothing(clone):
    source = next((clone / "labs" / "apps" / "webflux" / "src" / "main").rglob("*App.java"))
    source.write_text(source.read_text() + "\nclass Broken { int i = nothing; }\n")
    line = source.read_text().splitlines().index("class Broken { int i = nothing; }") + 1
    with pytest.raises(BuildError) as caught:
        building.build(say=lambda _text: None)
    assert caught.value.what == "The servers do not compile."
    assert f"{source.name}, line {line}: " in caught.value.found
    assert not SPEC.folder.exists()


@pytest.mark.usefixtures("clone")
def test_a_killed_build_leaves_no_app_and_no_process():
    code = (
        "from pathlib import Path; from waitlab import paths; from waitlab.services.build import build;"
        f"paths.APPS = Path({str(paths.APPS)!r}); build(say=lambda text: print(text, flush=True))"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert any(line.startswith("Training run") for line in process.stdout)
        try:
            started = started_by(process.pid)
        finally:
            os.kill(process.pid, signal.SIGKILL)
    _, left = psutil.wait_procs(started, timeout=30)
    assert left == []
    assert not SPEC.folder.exists()
    assert not building.is_current(SPEC)


def started_by(pid: int) -> list[psutil.Process]:
    """What the build has started, once the app is among it."""
    end = time.monotonic() + 60
    found: list[psutil.Process] = []
    while time.monotonic() < end and not any(map(is_java, found)):
        found = psutil.Process(pid).children(recursive=True)
    assert found
    return found


def is_java(process: psutil.Process) -> bool:
    try:
        return process.name() == "java"
    except psutil.NoSuchProcess:
        return False
