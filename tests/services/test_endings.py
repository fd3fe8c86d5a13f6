"""However an owner ends, nothing of its lab is left: five seconds later, or what those become on a busy machine."""

from __future__ import annotations

import contextlib
import os
import signal

import psutil
import pytest
from waitlab.errors import ServiceDied, ServiceError
from waitlab.services import embedded_app, open_lab, state
from waitlab.services.embedded import EmbeddedLab
from waitlab.services.processes import born

GONE_S = 20.0


@pytest.mark.parametrize(
    ("what", "ending"), [("webflux", signal.SIGKILL), ("db", signal.SIGINT), ("db", signal.SIGTERM)]
)
@pytest.mark.usefixtures("built")
def test_nothing_is_left_after_a_signal(own, until, what, ending):
    owner = own(what)
    assert len(owner.pids) > 3
    owner.process.send_signal(ending)
    assert until(lambda: not owner.left(), GONE_S), owner.left()


@pytest.mark.usefixtures("built")
def test_nothing_is_left_when_the_owner_has_ended_normally(own):
    owner = own("webflux")
    owner.process.communicate("\n", timeout=3 * GONE_S)
    assert owner.process.returncode == 0
    assert owner.left() == []


def test_an_interrupt_in_the_terminal_does_not_reach_the_servers(own):
    owner = own("small")
    for pid in owner.pids:
        assert os.getsid(pid) != os.getsid(owner.process.pid)
        assert os.getpgid(pid) != os.getpgid(owner.process.pid)


def test_a_forked_copy_of_the_owner_does_not_keep_the_lab_alive(own, until):
    owner = own("small", "fork")
    copies = psutil.Process(owner.process.pid).children()
    copy = next(child for child in copies if child.pid not in owner.pids)
    owner.process.kill()
    assert until(lambda: not owner.left(), GONE_S), owner.left()
    assert copy.is_running()
    copy.kill()


@pytest.mark.usefixtures("built")
def test_the_next_lab_tidies_up_after_a_supervisor_that_was_killed_with_its_owner(own, until):
    owner = own("webflux")
    supervisor = next(lab for lab in state.list_labs() if lab.lab_id == owner.lab_id).supervisor["pid"]
    os.kill(supervisor, signal.SIGKILL)
    owner.process.kill()
    owner.process.wait()
    assert until(lambda: born(supervisor) is None, GONE_S)
    assert owner.left()
    open_lab("embedded").close()
    assert until(lambda: not owner.left(), GONE_S), owner.left()


@pytest.mark.usefixtures("built")
def test_a_frozen_database_does_not_keep_a_lab_from_ending(own, until, thaw):
    owner = own("db")
    servers = [
        p.pid for p in psutil.process_iter(["name"]) if p.pid in owner.pids and "postgres" in (p.info["name"] or "")
    ]
    thaw += servers
    for pid in servers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    owner.process.kill()
    assert until(lambda: not owner.left(), GONE_S), owner.left()


@pytest.mark.usefixtures("built")
def test_a_failing_start_says_the_last_words_and_leaves_nothing(monkeypatch):
    def wrong(*_arguments):
        return ["/bin/sh", "-c", "echo the disk is made of cheese; exit 3"]

    monkeypatch.setattr(embedded_app, "_command", wrong)
    lab = EmbeddedLab("for a test")
    with pytest.raises(ServiceDied) as failure:
        lab.app("webflux")
    assert "exit code 3" in str(failure.value)
    assert "the disk is made of cheese" in str(failure.value)
    assert "Try: `waitlab build --force`" in str(failure.value)
    assert lab.running() == {}
    lab.close()
    assert not lab.folder.exists()


def test_a_recycled_pid_is_not_ours(own, until):
    owner = own("small")
    lab = next(each for each in state.list_labs() if each.lab_id == owner.lab_id)
    word = (lab.folder / "lab.json").read_text(encoding="utf-8")
    os.kill(lab.supervisor["pid"], signal.SIGKILL)
    idle = lab.services["idle"]
    (lab.folder / "lab.json").write_text(word.replace(idle["born"], "at another time"), encoding="utf-8")
    assert until(lambda: owner.lab_id in state.tidy(), GONE_S)
    assert psutil.pid_exists(idle["pid"])
    os.kill(idle["pid"], signal.SIGKILL)


@pytest.mark.usefixtures("built")
def test_a_closed_lab_says_so():
    lab = open_lab("embedded")
    lab.close()
    lab.close()
    with pytest.raises(ServiceError, match="closed"):
        lab.app("webflux")
