"""Requests, the handles that carry them, and the class that each one ends in."""

from __future__ import annotations

import errno
import json
import socket
from collections import deque
from typing import Any
from urllib.parse import urlsplit

import pycurl

from .machine import resolve

CURL_CLASSES = {
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_GOT_NOTHING: "reset",
    pycurl.E_RECV_ERROR: "reset",
    pycurl.E_SEND_ERROR: "reset",
    pycurl.E_PARTIAL_FILE: "reset",
    pycurl.E_FTP_WEIRD_SERVER_REPLY: "http_error",
    pycurl.E_UNSUPPORTED_PROTOCOL: "http_error",  # an answer that is not HTTP
    pycurl.E_BAD_CONTENT_ENCODING: "http_error",
}
CONNECT_CLASSES = {errno.ECONNREFUSED: "refused", errno.ECONNRESET: "reset", errno.ETIMEDOUT: "timeout"}


class Request:
    """One request of the plan and what became of it; `start` is when its handle's own clock started."""

    __slots__ = (
        *("stream", "index", "intended", "start", "sent", "first", "done"),
        *("status", "cls", "body", "handle"),
    )

    def __init__(self, stream: Stream, index: int, intended: float) -> None:
        self.stream, self.index, self.intended = stream, index, intended
        self.sent: float | None = None
        self.first: float | None = None
        self.done: float | None = None
        self.start, self.status, self.cls, self.body = 0.0, 0, "unsent", b""
        self.handle: Any = None

    def times(self, handle: Any, now: float) -> None:
        """Takes libcurl's times, put on the monotonic clock; after a failure it fills in what never happened."""
        self.done = now
        self.status = handle.getinfo(pycurl.RESPONSE_CODE)
        if handle.getinfo(pycurl.REQUEST_SIZE):
            self.sent = min(self.start + handle.getinfo(pycurl.PRETRANSFER_TIME), now)
            if self.status:
                self.first = min(self.start + handle.getinfo(pycurl.STARTTRANSFER_TIME), now)

    def finish(self, handle: Any, code: int, now: float) -> None:
        """Takes what the finished transfer knows, and its class."""
        self.times(handle, now)
        self.cls = error_class(handle, code) if code else status_class(self.status)
        self.body = b"".join(handle.body)

    def row(self) -> list[Any]:
        """The sample, in the order of samples.COLUMNS."""
        times = (self.intended, self.sent, self.first, self.done)
        rounded = [None if at is None else round(at, 6) for at in times]
        return [self.stream.name, self.index, *rounded, self.status, self.cls, *server_side(self.body)]


class Slot:
    """One kept connection: its handle, and the requests that queue for it."""

    def __init__(self, handle: Any, url: str) -> None:
        self.handle, self.url = handle, url
        self.queue: deque[Request] = deque()
        self.busy = False
        handle.slot = self


class Stream:
    """One stream of the plan: its target, its handles, its kept connections."""

    def __init__(self, number: int, spec: dict[str, Any]) -> None:
        self.number, self.name, self.url, self.at_s = number, spec["name"], spec["url"], spec["at_s"]
        self.timeout_ms = max(1, round(spec["timeout_s"] * 1000))
        self.headers = [f"{name}: {value}" for name, value in spec["headers"]]
        self.target = resolve(self.url)
        self.planned = 0
        self.spare: list[Any] = []
        self.opened_first: deque[socket.socket | None] = deque()
        kept = spec["connections"] if spec["connection"] == "kept" else 0
        self.connect_first = spec["connect_first"] and not kept
        self.slots = [self._slot(index) for index in range(kept)]

    def handle(self) -> Any:
        """A handle whose connection is new, and closed after its one request."""
        if self.spare:
            return self.spare.pop()
        handle = self._bare(urlsplit(self.url).hostname or "", self.url, "Connection: close")
        handle.setopt(pycurl.FRESH_CONNECT, 1)
        handle.setopt(pycurl.FORBID_REUSE, 1)
        return handle

    def _slot(self, index: int) -> Slot:
        """A host name of its own pins a connection, as libcurl keeps connections by name."""
        parts = urlsplit(self.url)
        alias = f"kept-{self.number}-{index}.invalid"
        url = parts._replace(netloc=f"{alias}:{self.target[1]}").geturl()
        return Slot(self._bare(alias, url, f"Host: {parts.netloc}"), url)

    def _bare(self, host: str, url: str, header: str) -> Any:
        handle: Any = pycurl.Curl()
        handle.body, handle.request, handle.slot, handle.sock = [], None, None, None
        handle.setopt(pycurl.URL, url)
        handle.setopt(pycurl.HTTPHEADER, [*self.headers, header])
        handle.setopt(pycurl.TIMEOUT_MS, self.timeout_ms)
        handle.setopt(pycurl.WRITEFUNCTION, handle.body.append)
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.PROXY, "")
        if host != self.target[0]:
            handle.setopt(pycurl.RESOLVE, [f"{host}:{self.target[1]}:{self.target[0]}"])
        return handle


def rehearsal(port: int) -> Any:
    """A handle for a request to a port of our own."""
    url = f"http://127.0.0.1:{port}/"
    spec = {"name": "", "url": url, "at_s": [], "timeout_s": 1.0, "headers": [], "connection": "new"}
    return Stream(0, {**spec, "connections": 0, "connect_first": False}).handle()


def use_socket(handle: Any, sock: socket.socket | None) -> None:
    """Makes libcurl send on a connection that is open already (it takes a copy of the descriptor)."""
    if sock:
        handle.sock = sock
        handle.setopt(pycurl.OPENSOCKETFUNCTION, lambda _purpose, _address: sock)
        handle.setopt(pycurl.SOCKOPTFUNCTION, lambda _fd, _purpose: pycurl.SOCKOPT_ALREADY_CONNECTED)


def status_class(status: int) -> str:
    """The class of a whole answer."""
    if 200 <= status < 300:
        return "ok"
    return "rejected" if status in (429, 503) else "http_error"


def error_class(handle: Any, code: int) -> str:
    """The class of a transfer that failed with libcurl's `code`."""
    if code == pycurl.E_COULDNT_CONNECT:
        return CONNECT_CLASSES.get(handle.getinfo(pycurl.OS_ERRNO), "client_error")
    return CURL_CLASSES.get(code, "client_error")


def server_side(body: bytes) -> tuple[str, int | None, int | None]:
    """Thread, start and end (us) as the reply's JSON says; what it does not say is "" or None."""
    try:
        reply = json.loads(body)
    except ValueError:
        return "", None, None
    if not isinstance(reply, dict):
        return "", None, None
    thread, *times = (reply.get(name) for name in ("thread", "started_us", "ended_us"))
    started, ended = (at if type(at) is int else None for at in times)
    return thread if isinstance(thread, str) else "", started, ended
