"""JupyterLab on a free port and a headless Chromium, ended with the tests; skipped without a Chromium."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright
from waitlab.notebooks import lab_environment
from waitlab.paths import ROOT

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
READY_S = 60
KERNEL_READY = re.compile(r"\| Idle$")


@dataclass
class Page:
    """A browser page on a notebook in JupyterLab, with the console errors it made."""

    page: Any
    errors: list[str] = field(default_factory=list)

    def run_all(self) -> None:
        """Run, Run All Cells."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
        self.page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()

    def run_cell(self, index: int) -> None:
        """Selects the n-th cell and runs it."""
        cell = self.page.locator(".jp-Notebook .jp-Cell").nth(index)
        cell.scroll_into_view_if_needed()
        cell.locator(".cm-content").first.click()
        self.page.keyboard.press("Shift+Enter")


def chromium() -> str | None:
    """The browser's path: WAITLAB_CHROMIUM, or the first of the usual names on PATH."""
    named = os.environ.get("WAITLAB_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    path = chromium()
    if path is None:
        pytest.skip(f"no Chromium found (looked for {', '.join(NAMES)}; WAITLAB_CHROMIUM names another)")
    with sync_playwright() as started:
        chrome = started.chromium.launch(executable_path=path, args=OPTIONS)
        yield chrome
        chrome.close()


@pytest.fixture(scope="session")
def jupyterlab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], str]]:
    """A function from a folder to the address of a JupyterLab there; every server is ended with the tests."""
    started: list[subprocess.Popen[bytes]] = []

    def serve(folder: Path) -> str:
        state = tmp_path_factory.mktemp("jupyter")
        server, address = start_jupyterlab(folder, state)
        started.append(server)
        return address

    yield serve
    for server in started:
        end(server)


@pytest.fixture
def notebook(browser: Any, jupyterlab: Callable[[Path], str]) -> Iterator[Callable[[Path], Page]]:
    """A function from a notebook's path to its page in JupyterLab, kernel connected."""
    opened = []

    def show(path: Path) -> Page:
        server, token = jupyterlab(path.parent).split("?", 1)
        page = Page(browser.new_page(viewport={"width": 1200, "height": 1000}))
        opened.append(page)
        page.page.on("console", lambda said: page.errors.append(said.text) if said.type == "error" else None)
        page.page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.page.goto(f"{server}lab/tree/{path.name}?{token}")
        page.page.get_by_text(KERNEL_READY).first.wait_for(timeout=READY_S * 1000)
        return page

    yield show
    for page in opened:
        page.page.close()


def start_jupyterlab(folder: Path, state: Path) -> tuple[subprocess.Popen[bytes], str]:
    """JupyterLab on `folder` with settings and run files in `state`; its address with the token."""
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "WAITLAB_DATA")
    places += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")
    own = {name: str(state / name.lower()) for name in places}
    (state / "jupyter_runtime_dir").mkdir()
    environment = {**lab_environment(), **own, "JUPYTER_TOKEN": secrets.token_hex(16)}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "labs"), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1"]
    command += [f"--ServerApp.root_dir={folder}", f"--ServerApp.port={free_port()}", "--LabApp.news_url="]
    command += ["--allow-root"] if os.geteuid() == 0 else []
    with (state / "log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        return server, address_of(server, state)
    except BaseException:
        end(server)
        raise


def address_of(server: subprocess.Popen[bytes], state: Path) -> str:
    """Waits until the server has written where it listens (it takes the next port if its own was taken)."""
    written = state / "jupyter_runtime_dir" / f"jpserver-{server.pid}.json"
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            known = json.loads(written.read_text())
            return f"{known['url']}?token={known['token']}"
        except (OSError, ValueError):
            time.sleep(0.05)
    raise RuntimeError(f"JupyterLab did not start:\n{(state / 'log').read_text()[-2000:]}")


def end(server: subprocess.Popen[bytes]) -> None:
    """Ends the server and its kernels, and only these."""
    server.terminate()
    try:
        server.wait(15)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait(5)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
