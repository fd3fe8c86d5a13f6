"""However an owner ends, nothing of its lab is left in the engine: in 30 seconds, or in more on a busy machine."""

from __future__ import annotations

import json
import os
import signal

from waitlab.services import docker_leftovers, docker_probe, state
from waitlab.services.docker_lab import DockerLab

GONE_S = 60.0


def test_nothing_is_left_after_a_kill(own, until):
    owner = own("webflux")
    assert len(owner.left()) == 5
    owner.process.kill()
    assert until(lambda: not owner.left(), GONE_S), owner.left()


def test_nothing_is_left_after_a_kill_in_the_middle_of_the_start(own, until):
    owner = own("starting")
    assert until(lambda: len(owner.left()) > 1, GONE_S)
    owner.process.kill()
    assert until(lambda: not owner.left(), GONE_S), owner.left()


def test_nothing_is_left_after_a_normal_end(own):
    owner = own("webflux")
    owner.process.communicate("\n", timeout=GONE_S)
    assert owner.process.returncode == 0
    assert owner.left() == []


def test_an_interrupt_ends_the_run_and_not_the_services(own):
    owner = own("interrupted")
    assert json.loads(owner.tells())["done"] >= 0
    owner.process.send_signal(signal.SIGINT)
    said = {}
    while "partial" not in said:
        said = json.loads(owner.tells())
    assert said["partial"] is True and said["thread"]
    assert len(owner.left()) == 5


def test_the_guard_outlives_a_supervisor_that_was_killed(own, until):
    owner = own("webflux")
    word = next(each for each in state.list_labs() if each.lab_id == owner.lab_id)
    os.kill(word.supervisor["pid"], signal.SIGKILL)
    assert until(lambda: not docker_leftovers.labelled(owner.host, f"waitlab.lab={owner.lab_id}"), GONE_S)


def test_the_next_lab_removes_what_nobody_was_left_to_remove(own):
    owner = own("webflux")
    word = next(each for each in state.list_labs() if each.lab_id == owner.lab_id)
    for pid in (word.services["docker"]["pid"], word.supervisor["pid"], owner.process.pid):
        os.kill(pid, signal.SIGKILL)
    owner.process.wait()
    assert owner.lab_id in docker_leftovers.leftovers(owner.host)
    DockerLab("for a test", docker_probe.probe_engine()).close()
    assert owner.left() == []
