"""libcurl's transfers on epoll or kqueue, and the pipe to the owner."""

from __future__ import annotations

import json
import os
import select
import selectors
import socket
import time
from collections.abc import Callable
from typing import Any

import pycurl

STDIN, STDOUT = 0, 1
KEPT_AT_MOST = 100_000  # libcurl must not close a kept connection of the plan by itself
mono = time.monotonic


class StopError(Exception):
    """The owner said stop, or is gone."""


class Wire:
    """Transfers in flight; each that ends is handed to `on_end` (handle, libcurl's code, now) at once."""

    def __init__(self, on_end: Callable[[Any, int, float], None]) -> None:
        self.on_end = on_end
        self.stopped = False
        self.running = 0
        self.timer = float("inf")
        self.known: set[int] = set()
        self.fresh: set[int] = set()
        self.starting = False
        self.selector = selectors.DefaultSelector()
        self.selector.register(STDIN, selectors.EVENT_READ)
        self.multi = pycurl.CurlMulti()
        self.multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self.multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self.multi.setopt(pycurl.M_MAXCONNECTS, KEPT_AT_MOST)

    def start(self, handle: Any) -> float:
        """Starts a transfer now; the moment at which its own clock started (monotonic s)."""
        self.multi.add_handle(handle)
        self.running += 1
        self.starting = True
        now = mono()
        self.act(pycurl.SOCKET_TIMEOUT, 0)
        self.starting = False
        while self.fresh:
            self._try_at_once(self.fresh.pop())
        return now

    def _try_at_once(self, fd: int) -> None:
        """On one host a connection is there as soon as it was asked for: sends without waiting to be told."""
        self.fresh.add(fd)
        self.act(fd, pycurl.CSELECT_OUT)
        if fd in self.fresh:
            self.fresh.remove(fd)
            self._watch(pycurl.POLL_OUT, fd)

    def act(self, fd: int, mask: int) -> None:
        """Lets libcurl work on a descriptor (or on its timers) and hands on the transfers that ended."""
        before = self.running
        self.running = self.multi.socket_action(fd, mask)[1]
        if self.running < before:
            self._hand_on(mono())

    def turn(self, wait_s: float, between: Callable[[], None] = lambda: None) -> None:
        """Handles what is ready within `wait_s`, kept to the microsecond (epoll itself counts ms)."""
        wait_s = min(wait_s, self.timer - mono())
        if wait_s > 0:
            select.select([self.selector], [], [], wait_s)
        for key, mask in self.selector.select(0):
            if key.fd == STDIN:
                self.listen()
            else:
                self.act(key.fd, mask)
                between()
        if self.timer <= mono():
            self.timer = float("inf")
            self.act(pycurl.SOCKET_TIMEOUT, 0)

    def listen(self) -> None:
        """Reads the owner's word: a line "stop" and the end of the pipe both mean stop."""
        word = os.read(STDIN, 4096)
        self.stopped = self.stopped or not word or b"stop" in word
        if not word:
            self.selector.unregister(STDIN)

    def pause(self, seconds: float, connecting: socket.socket | None = None) -> bool:
        """Waits before time 0, for a socket or for time to pass, and listens; True if the socket is ready."""
        waiter = select.poll()
        waiter.register(STDIN, select.POLLIN)
        if connecting:
            waiter.register(connecting, select.POLLOUT)
        ready = {fd for fd, _ in waiter.poll(seconds * 1000)}
        if STDIN in ready:
            self.listen()
        if self.stopped:
            raise StopError
        return bool(ready - {STDIN})

    def _hand_on(self, now: float) -> None:
        left = 1
        while left:
            left, good, bad = self.multi.info_read(100)
            for handle, code in [*((h, 0) for h in good), *((h, code) for h, code, _ in bad)]:
                self.multi.remove_handle(handle)
                self.on_end(handle, code, now)

    def _watch(self, what: int, fd: int, _multi: object = None, _data: object = None) -> None:
        """libcurl's socket callback; POLL_IN and POLL_OUT are EVENT_READ and EVENT_WRITE."""
        self.fresh.discard(fd)
        if what == pycurl.POLL_REMOVE:
            if fd in self.known:
                self.known.remove(fd)
                self.selector.unregister(fd)
        elif fd in self.known:
            self.selector.modify(fd, what)
        elif self.starting and what == pycurl.POLL_OUT:
            self.fresh.add(fd)
        else:
            self.known.add(fd)
            self.selector.register(fd, what)

    def _set_timer(self, ms: int) -> None:
        self.timer = float("inf") if ms < 0 else mono() + ms / 1000


def say(message: dict[str, Any]) -> None:
    """One line of JSON to the owner."""
    line = memoryview(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    while line:
        line = line[os.write(STDOUT, line) :]
