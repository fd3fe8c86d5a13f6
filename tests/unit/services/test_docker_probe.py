"""Every state of an engine is told in a sentence, and in time: engines of a few lines stand in for the real one."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import contextmanager, suppress

import pytest
from waitlab.services import docker_api, docker_images, docker_probe, doctor, runtimes

SIZE = {"NCPU": 4, "MemTotal": 8 * 2**30, "OperatingSystem": "Debian", "KernelVersion": "6"}
IMAGES = [{"RepoTags": ["postgres:17", "someone/else:1"]}, {"RepoTags": None}]


@contextmanager
def engine(folder, answer):
    """An engine at a socket of its own; `answer(path)` gives bytes, or None to stay silent."""
    address = str(folder / "docker.sock")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        held = []

        def serve():
            while True:
                try:
                    wire, _ = listening.accept()
                except OSError:
                    return
                held.append(wire)
                said = answer(wire.recv(4096).decode().split()[1])
                if said is not None:
                    with suppress(OSError):  # who asked may have gone
                        wire.sendall(said)
                    wire.close()

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"unix://{address}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            for wire in held:
                wire.close()


def http(document, status="200 OK"):
    return f"HTTP/1.0 {status}\r\n\r\n{json.dumps(document)}".encode()


def working(version="27.1", api="1.46"):
    answers = {"/version": {"Version": version, "ApiVersion": api}, "/info": SIZE, "/images/json": IMAGES}
    return lambda path: http(answers[path])


@pytest.fixture
def at(tmp_path, monkeypatch):
    """Puts the lab before an engine that answers so."""

    @contextmanager
    def put(answer):
        with engine(tmp_path, answer) as host:
            monkeypatch.setenv("DOCKER_HOST", host)
            yield host

    return put


def test_a_working_engine_is_described(at):
    with at(working()):
        found = docker_probe.probe_engine()
    assert (found.ready, found.version, found.api, found.cpus, found.memory_mb) == (True, "27.1", "1.46", 4, 8192)
    assert found.images == ("postgres:17",)


def test_a_silent_engine_is_not_waited_for_beyond_the_deadline(at):
    come_back = threading.Event()
    with at(lambda path: working()(path) if come_back.wait(60) else None):
        assert docker_probe.lacks(within_s=0.5).endswith("nothing answers in time")
        come_back.set()


def test_an_engine_that_drips_is_silent_too(at):
    with at(lambda _path: b"HTTP/1.0 200 OK\r\n"):
        found = docker_probe.probe_engine(0.3)
    assert found.engine == "failed"


def test_an_old_engine_is_told_with_both_versions(at):
    with at(working("18.09", "1.39")):
        found = docker_probe.probe_engine()
    assert found.engine == "API too old"
    assert "1.39" in found.detail and "1.41" in found.detail


def test_an_engine_that_refuses_is_quoted(at):
    with at(lambda _path: http({"message": "client version 1.24 is too old"}, "400 Bad Request")):
        found = docker_probe.probe_engine()
    assert found.engine == "failed" and "client version 1.24 is too old" in found.detail


def test_what_is_no_engine_is_told(at):
    with at(lambda _path: b"SSH-2.0-OpenSSH_9\r\n"):
        assert "no Docker engine" in docker_probe.probe_engine().detail


def test_no_engine_at_all(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    found = docker_probe.probe_engine()
    assert found.engine == "absent" and str(tmp_path) in found.detail


def test_a_socket_that_an_engine_left_behind(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "docker.sock"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    assert docker_probe.probe_engine().engine == "stopped"


def test_no_permission():
    assert docker_probe.explain(PermissionError(13, "no"), "unix:///s").engine == "no permission"


def test_an_engine_on_another_machine_is_none_for_the_lab(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    found = docker_probe.probe_engine()
    assert found.engine == "elsewhere" and "192.0.2.1" in found.detail


@pytest.mark.parametrize(("present", "reason"), [("docker", ""), ("", "command is not installed")])
def test_the_command_must_be_there(at, monkeypatch, present, reason):
    monkeypatch.setattr(docker_probe, "probe_command", lambda _s: (present or None, "2.26.1-4" if present else None))
    monkeypatch.setattr(docker_probe, "client_refused", lambda _s: "")
    monkeypatch.setattr(docker_images, "cannot_be_had", lambda _found, _s: "")
    with at(working()):
        assert reason in docker_probe.lacks() and bool(reason) == bool(docker_probe.lacks())


def test_an_old_compose_plugin_is_told_with_both_versions(at, monkeypatch):
    monkeypatch.setattr(docker_probe, "probe_command", lambda _s: ("docker", "v2.6.0"))
    monkeypatch.setattr(docker_probe, "client_refused", lambda _s: "")
    with at(working()):
        assert docker_probe.lacks() == "the compose plugin is v2.6.0, and the lab needs 2.20 or newer"


def test_a_command_that_the_engine_refuses_is_quoted(tmp_path, monkeypatch):
    command = tmp_path / "docker"
    command.write_text("#!/bin/sh\necho 'Error: client version 1.52 is too new' >&2\nexit 1\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert "client version 1.52 is too new" in docker_probe.client_refused(2.0)


def test_images_that_cannot_be_had_are_named(at, monkeypatch):
    monkeypatch.setattr(docker_images, "_registry_answers", lambda _image, _s: False)
    monkeypatch.setattr(docker_images, "_built", lambda _part: True)
    with at(working()):
        found = docker_probe.probe_engine()
    assert "eclipse-temurin:25-jdk is not here, and no registry answers" in docker_images.cannot_be_had(found, 1.0)


def test_stand_ins_take_the_place_of_official_images_that_are_not_here(monkeypatch):
    monkeypatch.delenv("JAVA_IMAGE", raising=False)
    stand_in, official = docker_images.STAND_INS["JAVA_IMAGE"], docker_images.OFFICIAL["JAVA_IMAGE"]
    assert docker_images.bases(())["JAVA_IMAGE"] == official
    assert docker_images.bases((stand_in,))["JAVA_IMAGE"] == stand_in
    assert docker_images.bases((stand_in, official))["JAVA_IMAGE"] == official
    monkeypatch.setenv("JAVA_IMAGE", "mine:1")
    assert docker_images.bases((stand_in, official))["JAVA_IMAGE"] == "mine:1"


def test_the_doctor_answers_before_a_silent_engine_and_picks_embedded(at, monkeypatch):
    monkeypatch.delenv("WAITLAB_RUNTIME", raising=False)
    monkeypatch.setattr(runtimes, "embedded_lacks", lambda: "")
    with at(lambda _path: None):
        report = doctor.doctor()
    assert report["docker"]["engine"] == "silent"
    assert report["runtime"]["choice"] == "embedded"
    assert "nothing answers" in report["runtime"]["why"]


def test_the_context_of_the_docker_command_is_followed(tmp_path, monkeypatch):
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.delenv("DOCKER_CONTEXT", raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    assert docker_api.address().startswith("unix://")
    (tmp_path / "config.json").write_text('{"currentContext": "other"}')
    command = tmp_path / "docker"
    command.write_text("#!/bin/sh\necho unix:///other.sock\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert docker_api.address() == "unix:///other.sock"
