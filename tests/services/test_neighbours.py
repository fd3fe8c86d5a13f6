"""Others on the same machine: whoever has the usual ports, and another user with a lab of his own."""

from __future__ import annotations

import contextlib
import os
import pwd
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from waitlab.services import App, open_lab

USUAL = (8080, 5432)
STRANGER = "nobody"
HIS_LAB = """
from waitlab.services import open_lab
with open_lab("embedded") as lab:
    print(lab.app("webflux").get("/fast")["thread"])
"""


@pytest.fixture
def usual_ports() -> Iterator[None]:
    """The usual ports taken, by us or already by somebody else."""
    with contextlib.ExitStack() as held:
        for port in USUAL:
            taken = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                taken.bind(("127.0.0.1", port))
                taken.listen()
        yield


@pytest.mark.usefixtures("usual_ports")
def test_the_usual_ports_may_be_taken(built: str) -> None:
    with open_lab(built) as lab:
        app = lab.app("webflux")
        assert app.get("/jdbc?s=0")["thread"]
        assert urlsplit(app.url).port not in USUAL


def test_another_user_has_a_lab_of_his_own(as_it_is: App) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can try another user")
    him = pwd.getpwnam(STRANGER)
    as_him = {"user": him.pw_uid, "group": him.pw_gid, "extra_groups": [], "capture_output": True, "text": True}
    try:
        subprocess.run([sys.executable, "-c", "import waitlab.session"], **as_him, check=True, cwd="/")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"{STRANGER} may not read this clone or its Python")
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, him.pw_uid, him.pw_gid)
        environment = {**os.environ, "HOME": home, "TMPDIR": home, "WAITLAB_STATE": f"{home}/state"}
        his = [sys.executable, "-c", HIS_LAB]
        told = subprocess.run(his, **as_him, env=environment, check=False, cwd="/", timeout=120)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("reactor-http-")
    assert as_it_is.get("/fast")["thread"]
