"""The supervisor with small servers: what is started, told, stopped, and kept apart."""

from __future__ import annotations

import os
import signal
import socket
import stat
import sys
import time

import psutil
import pytest
from waitlab.errors import ServiceError
from waitlab.services import state
from waitlab.services.link import Link

IDLE = [sys.executable, "-S", "-c", "import signal; signal.pause()"]
DEAF = "from signal import *; signal(SIGTERM, SIG_IGN); print('up', flush=True); pause()"


@pytest.fixture
def link():
    link = Link(state.new_folder())
    yield link
    link.close()
    assert link.gone()


def start(link, name, argv=IDLE, **fields):
    """Starts a small server in the lab of the link."""
    given = {"argv": argv, "env": {}, "cwd": "/", "log": str(link.folder / "logs" / f"{name}.log"), **fields}
    return link.start(name, **given)


def test_it_is_one_thread_of_a_bare_python(link):
    """Which is why it is ready at once."""
    link.ask("note", facts={})
    supervisor = psutil.Process(link.pid)
    assert supervisor.num_threads() == 1
    assert {"-S", "-E", "-s"} <= set(supervisor.cmdline())


def test_a_death_is_told_with_its_exit_code(link, until):
    child = start(link, "idle")
    os.kill(child.pid, signal.SIGKILL)
    assert until(lambda: not link.child("idle").running, 20)
    assert link.child("idle").code == -signal.SIGKILL
    assert not link.child("idle").wanted
    assert link.child("idle").ended_s <= time.monotonic()


def test_a_stop_is_answered_when_the_server_has_ended(link):
    child = start(link, "idle")
    link.stop("idle")
    assert not psutil.pid_exists(child.pid)
    assert link.child("idle").wanted


def test_a_server_that_will_not_hear_is_killed(link, until):
    start(link, "deaf", [sys.executable, "-S", "-c", DEAF], grace_s=0.2)
    assert until(lambda: state.tail(link.folder / "logs" / "deaf.log") == ["up"], 20)
    link.stop("deaf")
    assert link.child("deaf").code == -signal.SIGKILL


def test_a_program_that_is_not_there_is_a_sentence(link):
    with pytest.raises(ServiceError, match="could not start") as failure:
        start(link, "ghost", ["/no/such/program"])
    assert "FileNotFoundError" in failure.value.found


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system pins no process to CPUs")
def test_a_server_can_be_kept_on_one_cpu(link):
    one = min(os.sched_getaffinity(0))
    assert os.sched_getaffinity(start(link, "pinned", cpus=[one]).pid) == {one}
    assert len(os.sched_getaffinity(link.pid)) == len(os.sched_getaffinity(0))


def test_logs_and_state_are_closed_to_others(link):
    start(link, "idle")
    for path in (link.folder, *link.folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_reserved_port_is_kept_for_a_server_that_shares_addresses(link):
    port = link.ask("reserve")["port"]
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen()
    if sys.platform == "linux":
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))


def test_twenty_labs_at_once_do_not_collide():
    links = [Link(state.new_folder()) for _ in range(20)]
    ports = {link.ask("reserve")["port"] for link in links}
    pids = {start(link, "idle").pid for link in links}
    assert len(ports) == len(pids) == 20
    for link in links:
        link.close()
    assert all(link.gone() for link in links)
    assert not any(map(psutil.pid_exists, pids))


def test_a_supervisor_that_was_killed_is_told_in_a_sentence(until):
    link = Link(state.new_folder())
    os.kill(link.pid, signal.SIGKILL)
    assert until(lambda: not link.alive, 20)
    with pytest.raises(ServiceError, match="has ended"):
        link.ask("reserve")
    link.close()
    assert link.gone()
    state.tidy()
