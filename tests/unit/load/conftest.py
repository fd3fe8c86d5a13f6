"""A stub that answers well, and small servers that behave badly on purpose."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import psutil
import pytest
from waitlab.load.stub import running_stub

Behave = Callable[[socket.socket], None]


@dataclass
class Seen:
    """One connection as the server saw it: a moment before it was accepted, and its requests with their times."""

    before_accept_s: float
    requests: list[tuple[float, bytes]] = field(default_factory=list)


class BrokenServer:
    """Accepts at once and lets `behave` treat each request; a thread a connection."""

    def __init__(
        self, behave: Behave, *, backlog: int = 100, accepting: bool = True, slow_accept_s: float = 0.0
    ) -> None:
        self.behave = behave
        self.slow_accept_s = slow_accept_s
        self.seen: list[Seen] = []
        self.open: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.threads: list[threading.Thread] = []
        if accepting:
            self._thread(self._accept)

    def close(self) -> None:
        """Closes everything; whoever waits is reset."""
        for sock in [self.listener, *self.open]:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        for thread in self.threads:
            if thread is not threading.current_thread():
                thread.join(5)

    def _thread(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while True:
                select.select([self.listener], [], [])
                threading.Event().wait(self.slow_accept_s)
                seen = Seen(time.monotonic())
                connection, _ = self.listener.accept()
                self.seen.append(seen)
                self.open.append(connection)
                self._thread(self._serve, connection, seen)

    def _serve(self, connection: socket.socket, seen: Seen) -> None:
        with contextlib.suppress(OSError), connection:
            while request := connection.recv(4096):
                seen.requests.append((time.monotonic(), request))
                self.behave(connection)


def answer(status: int = 200, body: bytes = b"{}", length: int | None = None) -> Behave:
    """Answers with this status and body; `length` is what the header claims."""
    size = len(body) if length is None else length
    reply = b"HTTP/1.1 %d Because\r\nContent-Length: %d\r\n\r\n%s" % (status, size, body)
    return lambda connection: connection.sendall(reply)


def name_connections(server: BrokenServer) -> None:
    """Makes the server answer with the number of the connection where others say the thread."""

    def behave(connection: socket.socket) -> None:
        body = json.dumps({"thread": f"connection {server.open.index(connection)}"}).encode()
        answer(200, body)(connection)

    server.behave = behave


def cut_short(connection: socket.socket) -> None:
    """Promises 100 bytes, sends 2, closes."""
    answer(200, b"{}", length=100)(connection)
    connection.close()


def hang_up(connection: socket.socket) -> None:
    """Closes without an answer."""
    connection.close()


def reset(connection: socket.socket) -> None:
    """Closes with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def say_nothing(_connection: socket.socket) -> None:
    """Never answers."""


def talk_nonsense(connection: socket.socket) -> None:
    """Answers, but not in HTTP."""
    connection.sendall(b"\x00\xffno protocol at all\r\n\r\n")
    connection.close()


BEHAVIOURS: dict[str, Behave] = {
    "500": answer(500),
    "404": answer(404),
    "redirect": answer(302),
    "503": answer(503),
    "429": answer(429),
    "no json": answer(200, b'{"thread":'),
    "a list": answer(200, b"[1, 2]"),
    "wrong types": answer(200, b'{"thread": 7, "started_us": "x", "ended_us": true}'),
    "cut short": cut_short,
    "hang up": hang_up,
    "reset": reset,
    "nothing": say_nothing,
    "nonsense": talk_nonsense,
}


@pytest.fixture
def broken() -> Iterator[Callable[..., BrokenServer]]:
    """Makes a server of one of BEHAVIOURS (by name), closed after the test."""
    servers: list[BrokenServer] = []

    def make(behaviour: str | Behave = "no json", **how: object) -> BrokenServer:
        behave = BEHAVIOURS[behaviour] if isinstance(behaviour, str) else behaviour
        servers.append(BrokenServer(behave, **how))  # type: ignore[arg-type]
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def numbered(broken: Callable[..., BrokenServer]) -> BrokenServer:
    """A server that takes its time to accept, and answers with the number of the connection as thread."""
    server = broken("nothing", slow_accept_s=0.02)
    name_connections(server)
    return server


@pytest.fixture(scope="session")
def stub() -> Iterator[str]:
    """The address of a stub that answers after 50 ms (and /fast at once)."""
    with running_stub(50) as address:
        yield address


@pytest.fixture
def engines() -> Callable[[], list[psutil.Process]]:
    """The load engines that run as children of this process."""

    def find() -> list[psutil.Process]:
        children = psutil.Process().children()
        return [child for child in children if child.is_running() and "engine" in child.cmdline()]

    return find
