"""The owner's end of a supervisor: commands go out on the pipe, answers and deaths come back.

    Link(folder)            starts the supervisor of a lab
        .ask(do, ...)       one command and its answer
        .child(name)        what is known of a server that was started
        .close()            lets go of the pipe and waits until everything is gone

The write end of the pipe belongs to this process alone: programs it starts do not inherit it, and a forked
copy of it closes it at once, so that no forgotten child keeps a lab alive.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waitlab.errors import ServiceError, ServiceTimeout

SCRIPT = Path(__file__).with_name("supervisor.py")
ANSWER_S = 15.0
CLOSE_S = 10.0

_links: weakref.WeakSet[Link] = weakref.WeakSet()


@dataclass(frozen=True, slots=True)
class Child:
    """A server that was started. `code` is its exit code (minus the signal), `ended_s` monotonic seconds."""

    pid: int
    code: int | None = None
    ended_s: float | None = None
    wanted: bool = False

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.code is None


class Link:
    """A running supervisor, and the one pipe that keeps it alive."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.owner = os.getpid()
        self.changed = threading.Condition()
        self.children: dict[str, Child] = {}
        self._answers: dict[int, dict[str, Any]] = {}
        self._numbers = itertools.count(1)
        self.ended_s: float | None = None
        self._process = _start(folder)
        self.pid = self._process.pid
        _links.add(self)
        threading.Thread(target=self._read, name="waitlab-supervisor", daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether the supervisor still answers to us."""
        return self.ended_s is None and os.getpid() == self.owner

    def ask(self, do: str, *, within_s: float = ANSWER_S, **fields: Any) -> dict[str, Any]:
        """Sends one command and waits for its answer; ServiceError if it failed."""
        number = next(self._numbers)
        self._send({"id": number, "do": do, **fields})
        with self.changed:
            self.changed.wait_for(lambda: number in self._answers or self.ended_s, within_s)
            answer = self._answers.pop(number, None)
        if answer is None:
            raise self._silence(do, within_s)
        if "error" in answer:
            tip = "read the log of the lab with `waitlab logs`."
            raise ServiceError(f"The supervisor could not {do}.", found=answer["error"], tip=tip)
        return answer

    def start(self, name: str, **fields: Any) -> Child:
        """Starts a server; see the supervisor for the fields."""
        pid = self.ask("start", name=name, **fields)["pid"]
        with self.changed:
            known = self.children.get(name)
            if known is None or known.pid != pid:
                self.children[name] = Child(pid)
            return self.children[name]

    def stop(self, name: str) -> None:
        """Stops a server and waits until it has ended; none of that name is no error."""
        self.ask("stop", name=name)

    def child(self, name: str) -> Child | None:
        """What is known of the server of that name; None if it was never started."""
        with self.changed:
            return self.children.get(name)

    def wait(self, seconds: float) -> None:
        """Waits until something has happened to a server, at most so long."""
        with self.changed:
            self.changed.wait(seconds)

    def close(self) -> None:
        """Lets go of the pipe: the supervisor then stops everything and ends, unless it is detached."""
        if self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def leave(self) -> None:
        """Lets go of a detached supervisor, which stays."""
        self.close()
        self._process.returncode = 0

    def gone(self) -> bool:
        """Waits until the supervisor has ended; False if it takes too long."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_S)
        return self._process.returncode is not None

    def _send(self, command: dict[str, Any]) -> None:
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
        except (OSError, ValueError) as closed:
            raise self._silence(str(command["do"]), 0.0) from closed

    def _silence(self, do: str, waited_s: float) -> ServiceError:
        if self.ended_s or not waited_s:
            return ServiceError(
                f"The lab's supervisor has ended, so it could not {do}.",
                found=f"process {self.pid} is gone",
                tip="run the cell again: the lab starts afresh.",
            )
        return ServiceTimeout(
            f"The lab's supervisor did not {do} within {waited_s:g} s.",
            found=f"process {self.pid} does not answer",
            tip="`waitlab down`, then run the cell again.",
        )

    def _read(self) -> None:
        """Takes in answers and deaths until the supervisor ends; runs in a thread of its own."""
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._take(json.loads(line))
        with self.changed:
            self.ended_s = time.monotonic()
            self.changed.notify_all()

    def _take(self, message: dict[str, Any]) -> None:
        with self.changed:
            if message.get("event") == "exit":
                self.children[message["name"]] = Child(
                    message["pid"], message["code"], message["at_s"], message["wanted"]
                )
            elif "id" in message:
                self._answers[message["id"]] = message
            self.changed.notify_all()


def _start(folder: Path) -> subprocess.Popen[bytes]:
    """Starts the supervisor in a session of its own, reading file names as this process does."""
    python = [sys.executable, "-S", "-E", "-s", "-X", f"utf8={sys.flags.utf8_mode}"]
    log = os.open(folder / "logs" / "supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(log, "ab") as errors:
        return subprocess.Popen(
            [*python, str(SCRIPT), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
            cwd="/",
            start_new_session=True,
        )


def _let_go() -> None:
    """In a forked copy of this process: the pipes are not ours."""
    for link in list(_links):
        link.close()


os.register_at_fork(after_in_child=_let_go)
