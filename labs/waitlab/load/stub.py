"""A server that answers after a fixed delay: what the load engine is measured against.

One thread, one loop over epoll or kqueue, a heap of replies that are due; it holds thousands of connections.
`/fast` answers at once, `/sleep?ms=N` after N ms, every other path after the stub's own delay.
Replies carry the contract's three fields; `started_us` is when the request was read.
It runs as `python stub.py DELAY_MS`, prints its port, and ends when its stdin closes.
"""

from __future__ import annotations

import contextlib
import heapq
import os
import re
import resource
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

BACKLOG = 4096
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s"
_BODY = b'{"thread":"stub-1","started_us":%d,"ended_us":%d}'
_SLEEP = re.compile(rb"GET /sleep\?ms=(\d{1,6})\b")


@contextlib.contextmanager
def running_stub(delay_ms: float = 0.0) -> Iterator[str]:
    """The address (http://127.0.0.1:port) of a stub that answers after `delay_ms`; it ends with the block."""
    command = [sys.executable, str(Path(__file__).resolve()), str(delay_ms)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()


class Stub:
    """The loop: connections that are read, replies that wait for their moment."""

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
        self.listener.setblocking(False)
        self.port: int = self.listener.getsockname()[1]
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, self._accept)
        self.due: list[tuple[float, int, socket.socket, int, bool]] = []
        self.requests = 0

    def serve(self, stdin: int) -> None:
        """Answers until `stdin` closes."""
        self.selector.register(stdin, selectors.EVENT_READ, None)
        while True:
            wait = max(self.due[0][0] - time.monotonic(), 0.0) if self.due else None
            for key, _ in self.selector.select(wait):
                if key.data is None:
                    if not os.read(stdin, 4096):
                        return
                elif key.data == self._accept:
                    self._accept()
                else:
                    self._read(key.data, known=True)
            self._answer()

    def _accept(self) -> None:
        for _ in range(64):
            try:
                connection, _address = self.listener.accept()
            except OSError:
                return
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._read(connection, known=False)

    def _read(self, connection: socket.socket, known: bool) -> None:
        try:
            request = connection.recv(4096)
        except BlockingIOError:
            if not known:
                self.selector.register(connection, selectors.EVENT_READ, connection)
            return
        except OSError:
            request = b""
        if not request:
            self._close(connection, known)
            return
        if not known:
            self.selector.register(connection, selectors.EVENT_READ, connection)
        now = time.monotonic()
        self.requests += 1
        close = b"connection: close" in request.lower() or b" HTTP/1.0\r\n" in request
        reply = (now + self._delay(request), self.requests, connection, int(now * 1e6), close)
        heapq.heappush(self.due, reply)

    def _delay(self, request: bytes) -> float:
        if request.startswith(b"GET /fast"):
            return 0.0
        asked = _SLEEP.match(request)
        return int(asked[1]) / 1000 if asked else self.delay_s

    def _answer(self) -> None:
        while self.due and self.due[0][0] <= (now := time.monotonic()):
            _, _, connection, started_us, close = heapq.heappop(self.due)
            body = _BODY % (started_us, int(now * 1e6))
            ending = b"Connection: close\r\n" if close else b""
            try:
                connection.send(_HEAD % (len(body), ending, body))
            except OSError:
                close = True
            if close:
                self._close(connection, known=True)

    def _close(self, connection: socket.socket, known: bool) -> None:
        if known:
            with contextlib.suppress(KeyError, ValueError):
                self.selector.unregister(connection)
        connection.close()


def main() -> None:
    """Serves with the delay given as the one argument (ms), on a free port that it prints."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    stub = Stub(float(sys.argv[1]) / 1000)
    print(stub.port, flush=True)
    stub.serve(sys.stdin.fileno())


if __name__ == "__main__":
    main()
