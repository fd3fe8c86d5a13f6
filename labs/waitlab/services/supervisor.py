"""The supervisor: one process per lab that starts its servers, watches them, and stops them.

    python supervisor.py FOLDER     FOLDER is the lab's own; FOLDER/lab.json says what runs

It runs in a session of its own, so that an Interrupt in the notebook does not reach the servers. Its
standard input is a pipe whose other end only the owner holds. When the owner ends, however it ends, the
kernel closes that end, and the supervisor stops what it started, removes the lab's folders, and goes.
SIGTERM does the same. A lab that is noted as `detached` outlives its owner and waits for SIGTERM.

Commands come as JSON lines {"id", "do", ...} and are answered by {"id", ...}; a server that ends is told
as {"event": "exit", ...}. It must start at once: one thread, the standard library, and the module beside
this file, which is run as a script and never imported.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from processes import ask_to_end, born, kill_tree, remove_folder, remove_traces

GRACE_S = 1.5
"""How long a server may take to end by itself before it is killed."""


class Child:
    """A server that runs: its process, and how it is asked to end."""

    def __init__(self, command: dict[str, Any]) -> None:
        self.name = str(command["name"])
        self.signal = signal.Signals[command.get("stop", "SIGTERM")]
        self.grace_s = float(command.get("grace_s", GRACE_S))
        self.asked: list[int] = []
        self.deadline: float | None = None
        self.process = _spawn(command)
        self.born = born(self.process.pid)

    def end(self) -> None:
        """Asks it to end, once."""
        if self.deadline is None:
            self.deadline = time.monotonic() + self.grace_s
            ask_to_end(self.process.pid, self.signal)

    def kill_if_late(self) -> None:
        """Kills it where it was asked to end and did not within its grace."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            kill_tree(self.process.pid)


def _spawn(command: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Starts a process in a session of its own, with its output in a log that only we can read."""
    user, cpus = command.get("uid"), command.get("cpus")
    log = os.open(command["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    before = os.sched_getaffinity(0) if cpus else None
    try:
        if cpus:
            os.sched_setaffinity(0, cpus)
        return subprocess.Popen(
            command["argv"],
            env=command["env"],
            cwd=command["cwd"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            user=user,
            group=command.get("gid"),
            extra_groups=[] if user is not None else None,
            umask=0o077,
        )
    finally:
        os.close(log)
        if before:
            os.sched_setaffinity(0, before)


class Supervisor:
    """Answers the owner's commands, and keeps lab.json true."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.children: dict[str, Child] = {}
        self.reserved: list[socket.socket] = []
        self.facts: dict[str, Any] = {"detached": False, "folders": []}
        self.services: dict[str, dict[str, Any]] = {}
        self.pending = b""
        self.ending = False

    def serve(self) -> None:
        """Runs until the owner has gone or a SIGTERM came, and then until nothing is left."""
        wake, self.selector = _signals(self._stop), selectors.DefaultSelector()
        self.selector.register(wake, selectors.EVENT_READ)
        self.selector.register(0, selectors.EVENT_READ)
        os.set_blocking(0, False)
        self._write_down()
        self._say(event="ready", pid=os.getpid())
        while not self.ending or self.children:
            for key, _ in self.selector.select(0.1 if self._someone_ends() else None):
                self._listen() if key.fd == 0 else os.read(key.fd, 4096)
            self._look_after()
        for folder in [*map(Path, self.facts["folders"]), self.folder]:
            remove_folder(folder)

    def _stop(self) -> None:
        self.ending = True

    def _someone_ends(self) -> bool:
        return any(child.deadline is not None for child in self.children.values())

    def _listen(self) -> None:
        """Reads what the owner sent; at its end, so ends the lab, unless it was told to stay."""
        try:
            sent = os.read(0, 65536)
        except BlockingIOError:
            return
        if not sent:
            self.selector.unregister(0)
            self.ending = self.ending or not self.facts["detached"]
        *lines, self.pending = (self.pending + sent).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))

    def _obey(self, command: dict[str, Any]) -> None:
        """Does one command; what goes wrong is the answer."""
        try:
            answer = getattr(self, f"do_{command['do']}")(command)
        except Exception as problem:
            answer = {"error": f"{type(problem).__name__}: {problem}"}
        if answer is not None:
            self._say(id=command["id"], **answer)

    def do_start(self, command: dict[str, Any]) -> dict[str, Any]:
        """Starts a server."""
        child = Child(command)
        self.children[child.name] = child
        pid = child.process.pid
        self.services[child.name] = {"pid": pid, "born": child.born, "stop": child.signal.name}
        self._write_down()
        return {"pid": pid}

    def do_stop(self, command: dict[str, Any]) -> dict[str, Any] | None:
        """Stops a server; the answer comes when it has ended."""
        child = self.children.get(command["name"])
        if child is None:
            return {"code": None}
        child.asked.append(command["id"])
        child.end()
        return None

    def do_note(self, command: dict[str, Any]) -> dict[str, Any]:
        """Keeps facts in lab.json: of the lab, or of one server where it is named."""
        kept = self.services.get(command["name"], {}) if "name" in command else self.facts
        kept.update(command["facts"])
        self._write_down()
        return {}

    def do_reserve(self, _command: dict[str, Any]) -> dict[str, Any]:
        """Reserves a free loopback port for a server that cannot bind port 0.

        On Linux it stays reserved: a socket that is bound but does not listen keeps others off, and lets a
        server that allows the reuse of addresses bind beside it, as often as it likes.
        """
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        self.reserved.append(held) if sys.platform == "linux" else held.close()
        return {"port": port}

    def _look_after(self) -> None:
        """Tells of servers that ended, kills those that are late, ends all where the lab ends."""
        for child in list(self.children.values()):
            if self.ending:
                child.end()
            if child.process.poll() is None:
                child.kill_if_late()
            else:
                self._bury(child)

    def _bury(self, child: Child) -> None:
        del self.children[child.name]
        remove_traces(child.process.pid)
        self.services.pop(child.name, None)
        self._write_down()
        pid, code, wanted = child.process.pid, child.process.returncode, child.deadline is not None
        self._say(event="exit", name=child.name, pid=pid, code=code, wanted=wanted, at_s=time.monotonic())
        for request in child.asked:
            self._say(id=request, code=code)

    def _write_down(self) -> None:
        """Writes lab.json whole."""
        me = {"pid": os.getpid(), "born": born(os.getpid())}
        word = {"supervisor": me, **self.facts, "services": self.services}
        with contextlib.suppress(OSError):
            draft = self.folder / ".lab.json"
            draft.write_text(json.dumps(word, indent=1), encoding="utf-8")
            draft.replace(self.folder / "lab.json")

    def _say(self, **message: Any) -> None:
        with contextlib.suppress(OSError):
            os.write(1, json.dumps(message).encode() + b"\n")


def _signals(stop: Any) -> int:
    """Wakes the loop on every signal; SIGTERM ends the lab, the terminal's signals do not."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop())
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda _number, _frame: None)
    return reader


if __name__ == "__main__":
    os.umask(0o077)
    Supervisor(Path(sys.argv[1])).serve()
