"""A server whose process was stopped by a signal is told as frozen, and not as busy."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

from waitlab.services import processes
from waitlab.services.embedded_app import EmbeddedApp


def test_a_process_is_frozen_from_sigstop_to_sigcont():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert not processes.frozen(child.pid)
        child.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED)
        assert processes.frozen(child.pid)
        child.send_signal(signal.SIGCONT)
        os.waitid(os.P_PID, child.pid, os.WCONTINUED)
        assert not processes.frozen(child.pid)
        child.kill()


def test_a_late_answer_names_a_frozen_process():
    app = SimpleNamespace(name="mvc", pid=4711, frozen=lambda: True)
    assert "process 4711 is frozen (SIGSTOP)" in EmbeddedApp._late(app, "GET /settings", 15).text
    app.frozen = lambda: False
    assert "busy" in EmbeddedApp._late(app, "GET /settings", 15).text


def test_a_process_that_is_gone_is_not_frozen():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert not processes.frozen(child.pid)
