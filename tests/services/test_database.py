"""The database by itself: its port, its account, and the user who has no name."""

from __future__ import annotations

import os
import pwd
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from waitlab.services import accounts, nameless
from waitlab.services.embedded import EmbeddedLab
from waitlab.services.postgres import PortTaken


@pytest.fixture
def small_lab(built):
    with EmbeddedLab(f"{built}, for a test") as lab:
        yield lab
    assert not lab.folder.exists()
    assert lab.db.folder is None or not lab.db.folder.exists()


def test_a_port_that_somebody_took_is_told_and_another_one_works(small_lab):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        small_lab.db.port = other.getsockname()[1]
        with pytest.raises(PortTaken):
            small_lab.db.ensure()
    small_lab.db.port = 0
    assert small_lab.db.ensure()
    assert not small_lab.db.ensure()


@pytest.mark.skipif(sys.platform != "linux", reason="shared memory is listed in /proc on Linux")
def test_a_database_that_was_killed_leaves_no_shared_memory(small_lab, until):
    small_lab.db.ensure()
    segment = (small_lab.db.folder / "data" / "postmaster.pid").read_text().splitlines()[6].split()[1]
    assert segment in _segments()
    os.kill(small_lab.link.child("db").pid, signal.SIGKILL)
    assert until(lambda: not small_lab.db.running(), 20)
    small_lab.close()
    assert segment not in _segments()


def _segments():
    """Numbers of the System V shared memory segments of this machine."""
    lines = Path("/proc/sysvipc/shm").read_text(encoding="ascii").splitlines()[1:]
    return {line.split()[1] for line in lines}


@pytest.mark.skipif(os.geteuid() != 0, reason="not root, so PostgreSQL needs no other account")
def test_under_root_the_database_runs_as_somebody_else_and_nobody_else_can_read_it(small_lab):
    small_lab.db.ensure()
    assert psutil.Process(small_lab.link.child("db").pid).uids().effective != 0
    assert small_lab.db.folder.stat().st_mode & 0o777 == 0o700


def test_the_administrators_password_is_nowhere_after_the_start(small_lab):
    small_lab.db.ensure()
    assert [entry.name for entry in small_lab.db.folder.iterdir()] == ["data"]


def test_a_user_without_a_name_gets_one_for_initdb(monkeypatch):
    def nobody_knows(uid):
        raise KeyError(uid)

    assert accounts.with_a_name(["initdb"]) == ["initdb"]
    monkeypatch.setattr(pwd, "getpwuid", nobody_knows)
    assert accounts.with_a_name(["initdb"])[-3].endswith("nameless.py")


@pytest.mark.skipif(sys.platform != "linux", reason="user namespaces are Linux's")
def test_in_a_namespace_a_process_sees_itself_as_a_user_with_a_name():
    entry = next(each for each in pwd.getpwall() if each.pw_uid not in (0, os.geteuid()))
    me = [sys.executable, "-S", nameless.__file__, str(entry.pw_uid), "/usr/bin/env", "id", "-un"]
    said = subprocess.run(me, capture_output=True, text=True, check=True).stdout.strip()
    if said == pwd.getpwuid(os.geteuid()).pw_name:
        pytest.skip("this kernel allows no user namespace")
    assert said == entry.pw_name
