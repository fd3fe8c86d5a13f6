"""Chapters run headless: how one ends that is interrupted."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import psutil
import pytest
from waitlab import notebooks, paths

RUN = """
import signal, sys
from pathlib import Path
from waitlab import cli, notebooks

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from what it runs in the background
notebooks.FOLDER = Path(sys.argv[1])
sys.exit(cli.command(["run", "endless"]))
"""
ENDLESS = "import os, signal; print(os.getpid(), file=open('started', 'w')); signal.pause()"


@pytest.fixture
def endless(tmp_path):
    """A folder with a chapter that writes its kernel's number into the pipe `started`, then waits for ever."""
    os.mkfifo(tmp_path / "started")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(ENDLESS)])
    nbformat.write(book, tmp_path / "endless.ipynb")
    return tmp_path


def run(folder, ending):
    """Ends the chapter's run: `ending` gets the running command and the kernel's number."""
    command = [sys.executable, "-c", RUN, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as running:
        kernel = int((folder / "started").read_text())
        ending(running, kernel)
        out, err = running.communicate(timeout=20)
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(kernel).wait(10)
    return running.returncode, out, err


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupted_chapter_is_told_so_and_leaves_no_kernel(endless, times):
    def interrupt(running, kernel):
        handled = psutil.Process(kernel)
        for _ in range(times):
            running.send_signal(signal.SIGINT)
            with contextlib.suppress(psutil.Error):
                handled.wait(0.3)

    code, _, said = run(endless, interrupt)
    assert (code, said.strip()) == (130, "Interrupted; nothing is left running.")


def test_a_kernel_that_is_killed_is_told(endless):
    code, told, said = run(endless, lambda running, kernel: os.kill(kernel, signal.SIGKILL))
    assert (code, said) == (1, "")
    assert "The kernel died in the middle of the chapter." in told


def unknown():
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize(("where", "writable"), [(unknown, True), (lambda: Path("/nowhere"), False)])
def test_a_user_without_a_home_gets_one_for_jupyter(tmp_path, monkeypatch, where, writable):
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setenv("WAITLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(Path, "home", where)
    monkeypatch.setattr(paths, "can_be_made", lambda _folder: writable)
    notebooks._have_a_home()
    assert os.environ["HOME"] == str(tmp_path)
