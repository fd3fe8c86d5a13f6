"""Which runtime is chosen, and why."""

from __future__ import annotations

import os

import pytest
from waitlab.errors import BuildError, ControlError, ServiceError
from waitlab.services import embedded_app, java, machine, runtimes
from waitlab.services.app import on_one_clock
from waitlab.services.runtimes import choose_runtime, open_lab


@pytest.fixture(autouse=True)
def no_wish(monkeypatch):
    monkeypatch.delenv("WAITLAB_RUNTIME", raising=False)
    monkeypatch.setattr(runtimes, "embedded_lacks", lambda: "")
    monkeypatch.setattr(runtimes, "docker_lacks", lambda: "no engine listens")


def without_java():
    raise BuildError("The servers need Java 25 with jcmd.", tip="make setup")


def test_auto_takes_docker_where_it_can_serve(monkeypatch):
    monkeypatch.setattr(runtimes, "docker_lacks", lambda: "")
    choice = choose_runtime()
    assert choice.name == "docker"
    assert choice.why.endswith(".")


def test_auto_takes_embedded_where_docker_cannot_serve_and_says_why():
    choice = choose_runtime()
    assert choice.name == "embedded"
    assert "no engine listens" in choice.why and choice.why.endswith(".")


def test_auto_falls_back_to_recorded_and_says_why(monkeypatch):
    monkeypatch.setattr(runtimes, "embedded_lacks", lambda: "there is no Java")
    choice = choose_runtime()
    assert choice.name == "recorded"
    assert "there is no Java" in choice.why


def test_a_missing_java_is_half_a_sentence(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(java, "java_home", without_java)
    assert runtimes.embedded_lacks() == "The servers need Java 25 with jcmd"


def test_auto_follows_the_environment(monkeypatch):
    monkeypatch.setenv("WAITLAB_RUNTIME", "recorded")
    assert choose_runtime().name == "recorded"
    assert choose_runtime("embedded").name == "embedded"


def test_an_empty_wish_is_none(monkeypatch):
    monkeypatch.setenv("WAITLAB_RUNTIME", "")
    assert choose_runtime().name == "embedded"


def test_an_unknown_runtime_offers_the_nearest():
    with pytest.raises(ControlError, match="Try: embedded"):
        choose_runtime("embeded")


def test_docker_is_refused_in_a_sentence():
    with pytest.raises(ServiceError, match=r"no engine listens\nTry: .*--runtime embedded"):
        choose_runtime("docker")


def test_no_lab_opens_on_recordings():
    with pytest.raises(ServiceError, match="No server runs"):
        open_lab("recorded")


@pytest.mark.parametrize(("server", "same"), [(10.5, True), (9.9995, True), (9.5, False), (12.0, False)])
def test_one_clock_is_told_from_two(server, same):
    assert on_one_clock(10.0, server, 11.0) is same


def test_servers_see_nothing_that_they_would_take_for_a_setting(monkeypatch):
    for name in ("SERVER_PORT", "PGPORT", "JAVA_TOOL_OPTIONS", "LC_ALL", "http_proxy"):
        monkeypatch.setenv(name, "1")
    environment = machine.plain_environment()
    assert environment["LC_ALL"] == "C.UTF-8"
    assert not {"SERVER_PORT", "PGPORT", "JAVA_TOOL_OPTIONS", "http_proxy"} & set(environment)


def test_the_machine_has_cpus_and_memory():
    hardware = machine.hardware()
    assert hardware["cpus"] == len(machine.usable_cpus()) >= 1
    assert hardware["memory_mb"] > 100


def test_fewer_cpus_than_the_machine_has_are_pinned(monkeypatch):
    monkeypatch.setattr(machine, "usable_cpus", lambda: [0, 1, 2, 3])
    monkeypatch.setattr(os, "sched_setaffinity", lambda _pid, _cpus: None, raising=False)
    assert set(embedded_app._some_cpus(2) or ()) < {0, 1, 2, 3}
    assert len(embedded_app._some_cpus(2) or ()) == 2
    assert embedded_app._some_cpus(4) is None
    assert embedded_app._some_cpus(6) is None
