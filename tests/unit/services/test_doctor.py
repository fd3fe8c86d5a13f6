"""The doctor answers in time and in words, whatever it finds."""

import json
import socket
import subprocess
import threading

import pytest
from waitlab.services import docker_probe
from waitlab.services import doctor as practice
from waitlab.services.doctor import doctor, doctor_table


@pytest.fixture(autouse=True)
def nothing_here(tmp_path, monkeypatch):
    """A machine with nothing installed and nothing fetched."""
    for name in ("CACHE", "STATE"):
        monkeypatch.setenv(f"WAITLAB_{name}", str(tmp_path / name))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.delenv("WAITLAB_RUNTIME", raising=False)


@pytest.fixture
def silent_socket(tmp_path, monkeypatch):
    """An engine's socket that accepts and never answers."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "silent.sock"))
        listening.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/silent.sock")
        yield


def test_a_bare_machine_gets_a_whole_report():
    report = doctor()
    json.dumps(report)
    assert report["docker"]["engine"] == "absent"
    assert report["docker"]["command"] is None
    assert report["maven"]["home"] is None
    assert report["postgres"]["version"] is None
    assert report["java"]["version"].startswith("25")
    assert report["runtime"]["choice"] == "embedded"
    assert report["leftovers"] == []


def test_the_table_has_a_row_for_each_question():
    rows = doctor_table(doctor())
    assert [what for what, _, _ in rows] == [
        *("CPUs", "memory", "disk", "Java", "compiler", "Maven", "PostgreSQL"),
        *("servers", "Docker", "browser", "runtime", "left over"),
    ]
    assert {state for _, state, _ in rows} <= {"ok", "note", "missing", "problem"}
    assert all(detail for _, _, detail in rows)


@pytest.mark.usefixtures("silent_socket")
def test_a_silent_engine_costs_an_answer_and_not_the_report():
    report = doctor()
    assert report["docker"]["engine"] == "silent"


def test_a_question_that_hangs_is_left_behind(monkeypatch):
    hangs = threading.Event()  # set only when the doctor is back
    monkeypatch.setattr(practice, "DEADLINE_S", 0.3)
    monkeypatch.setitem(practice._QUESTIONS, "docker", lambda: hangs.wait(60))
    monkeypatch.setitem(practice._QUESTIONS, "disk", lambda: hangs.wait(60))
    report = doctor()
    hangs.set()
    assert report["docker"]["engine"] == "silent"
    assert ("disk", "problem", "no answer in time") in doctor_table(report)


def test_a_question_that_fails_is_a_row(monkeypatch):
    def fail():
        raise ValueError("no such thing\nmore")

    monkeypatch.setitem(practice._QUESTIONS, "memory", fail)
    assert ("memory", "problem", "no such thing") in doctor_table(doctor())


def test_a_stopped_engine(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "stopped.sock"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/stopped.sock")
    assert docker_probe.probe_engine().engine == "stopped"


@pytest.mark.parametrize(
    ("problem", "engine"),
    [
        (PermissionError(13, "Permission denied"), "no permission"),
        (FileNotFoundError(2, "No such file"), "absent"),
        (TimeoutError("timed out"), "silent"),
        (OSError("whatever"), "failed"),
    ],
)
def test_each_engine_problem_has_its_name(problem, engine):
    assert docker_probe.explain(problem, "unix:///x.sock").engine == engine


@pytest.mark.parametrize(
    ("outcome", "compose"),
    [
        (subprocess.CompletedProcess([], 0, "2.26.1\n"), "2.26.1"),
        (subprocess.CompletedProcess([], 1, "", ""), None),
        (subprocess.TimeoutExpired([], 1), None),
        (OSError("not executable"), None),
    ],
)
def test_the_compose_plugin(tmp_path, monkeypatch, outcome, compose):
    def run(*_, **__):
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    (tmp_path / "docker").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", run)
    assert docker_probe.probe_command() == (str(tmp_path / "docker"), compose)


def test_a_lab_that_died_is_named(tmp_path):
    folder = tmp_path / "STATE" / "labs" / "1-dead"
    folder.mkdir(parents=True)
    word = {"supervisor": {"pid": 1, "born": "never"}, "services": {"db": {"pid": 1, "born": "never"}}}
    (folder / "lab.json").write_text(json.dumps(word))
    (row,) = (row for row in doctor_table(doctor()) if row[0] == "left over")
    assert row[1] == "problem"
    assert "1-dead" in row[2]
