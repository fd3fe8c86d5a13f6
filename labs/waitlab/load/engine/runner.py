"""A plan carried out: what is opened before time 0, what is sent when it is due, what became of it."""

from __future__ import annotations

import contextlib
import errno
import heapq
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import pycurl

from .handles import Request, Slot, Stream, rehearsal, use_socket
from .machine import accept_queue, resolve, still_open, syn_retransmits
from .wire import Wire, mono, say

PREPARED = 6000  # handles made before time 0, at most, a stream
LEAD_S = 0.005  # from the end of the preparations to time 0
GAP_S = 0.005  # between connections whose acceptance cannot be seen
CONNECT_S = 5.0  # for a connection that is opened before time 0
PROGRESS_S = 0.1


class Runner:
    """Sends a plan's requests when they are due, and collects what became of them."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.closed: bool = plan["kind"] == "closed"
        self.streams = [Stream(number, spec) for number, spec in enumerate(plan["streams"])]
        self.offered: int = plan["requests"] if self.closed else sum(len(s.at_s) for s in self.streams)
        self.wire = Wire(self._ended)
        self.requests: list[Request] = []
        self.due: list[tuple[float, int, Request]] = []
        self.idle: list[socket.socket] = []
        self.finished = self.opened = 0
        self.accepts_seen = True
        self.reported = 0.0

    def prepare(self) -> None:
        """Opens what must be open before time 0, and makes handles."""
        if wanted := self.plan["idle_connections"]:
            target = resolve(self.plan["idle_url"])
            opened = [self._open(target, confirm=n % 50 == 0 or n == wanted) for n in range(1, wanted + 1)]
            self.idle = [sock for sock in opened if sock]
        self._rehearse()
        for stream in self.streams:
            for slot in stream.slots:
                self._warm(slot)
            if stream.connect_first:
                stream.opened_first.extend(self._open(stream.target) for _ in stream.at_s)
            if not stream.slots:
                count = min(len(stream.at_s) or self.plan["users"], PREPARED)
                stream.spare = [stream.handle() for _ in range(count)]

    def run(self) -> None:
        """The plan, from time 0 to the end of its last request, or to a stop."""
        self._schedule()
        retransmits, cpu_s = syn_retransmits(), time.process_time()
        t0 = mono() + LEAD_S + len(self.requests) * 1e-6
        for request in self.requests:
            request.intended += t0
        self.due = [(request.intended, i, request) for i, request in enumerate(self.requests)]
        heapq.heapify(self.due)
        say({"started": t0})
        self.reported = t0
        while self.finished < self.offered and not self.wire.stopped:
            self._turn()
        cpu_share = (time.process_time() - cpu_s) / max(mono() - t0, LEAD_S)
        self._abandon(mono())
        after = syn_retransmits()
        facts = {
            "connections_opened": self.opened,
            "cpu_share": round(cpu_share, 4),
            "retransmits": None if retransmits is None or after is None else after - retransmits,
            "accepts_seen": self.accepts_seen,
            "idle_open": sum(map(still_open, self.idle)),
            "stopped": self.finished < self.offered,
            "libcurl": pycurl.version_info()[1],
        }
        say({"done": facts, "samples": [request.row() for request in self.requests]})

    def _open(self, target: tuple[str, int], confirm: bool = True) -> socket.socket | None:
        """A connection the server has accepted (where that can be seen); None where it cannot be had."""
        sock = socket.socket(socket.AF_INET6 if ":" in target[0] else socket.AF_INET)
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        error = sock.connect_ex(target)
        if error == errno.EINPROGRESS and self.wire.pause(CONNECT_S, sock):
            error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            sock.close()
            return None
        if confirm:
            self._await_accept(target[1])
        return sock

    def _await_accept(self, port: int) -> None:
        deadline = mono() + CONNECT_S
        while (waiting := accept_queue(port)) and mono() < deadline:
            self.wire.pause(0.001)
        if waiting is None:
            self.wire.pause(GAP_S)
        self.accepts_seen = self.accepts_seen and waiting == 0

    def _rehearse(self) -> None:
        """A request to a port of our own: the first of all is slow, and must not be a measured one."""
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(1.0)
            self.wire.start(rehearsal(server.getsockname()[1]))
            self.wire.turn(0)
            with server.accept()[0] as connection:
                connection.settimeout(1.0)
                connection.recv(4096)
                connection.send(b"HTTP/1.1 204 No Content\r\n\r\n")
                while self.wire.running:
                    self.wire.turn(PROGRESS_S)
        self.opened = 0

    def _warm(self, slot: Slot) -> None:
        """Opens a kept connection by one unmeasured GET /fast on it."""
        slot.handle.setopt(pycurl.URL, urlsplit(slot.url)._replace(path="/fast", query="").geturl())
        slot.busy = True
        self.wire.start(slot.handle)
        while slot.busy:
            self.wire.turn(PROGRESS_S)
            self.wire.pause(0)
        slot.handle.setopt(pycurl.URL, slot.url)

    def _schedule(self) -> None:
        for user in range(min(self.plan["users"], self.offered) if self.closed else 0):
            self._plan(self.streams[user % len(self.streams)], 0.0)
        for stream in self.streams:
            for at in stream.at_s:
                self._plan(stream, at)

    def _plan(self, stream: Stream, intended: float) -> Request:
        request = Request(stream, stream.planned, intended)
        stream.planned += 1
        self.requests.append(request)
        return request

    def _turn(self) -> None:
        """Sends one request if it is due and handles what is ready; waits only if nothing is due."""
        self._send_due()
        now = mono()
        self.wire.turn(min(self.due[0][0] - now, PROGRESS_S) if self.due else PROGRESS_S, self._send_due)
        if now - self.reported > PROGRESS_S:
            self.reported = now
            say({"progress": self.finished, "of": self.offered})

    def _send_due(self) -> None:
        if not self.due or self.due[0][0] > mono():
            return
        request = heapq.heappop(self.due)[2]
        stream = request.stream
        if stream.slots:
            self._send_kept(request, stream.slots[request.index % len(stream.slots)])
            return
        handle = stream.handle()
        if stream.opened_first:
            use_socket(handle, stream.opened_first.popleft())
        self._start(handle, request)

    def _send_kept(self, request: Request, slot: Slot) -> None:
        """Sends on a kept connection, or queues for it; time spent in the queue counts for the time-out."""
        if slot.busy:
            slot.queue.append(request)
            return
        end_s = request.intended + request.stream.timeout_ms / 1000
        left_ms = round((end_s - mono()) * 1000)
        if left_ms > 0:
            slot.busy = True
            slot.handle.setopt(pycurl.TIMEOUT_MS, left_ms)
            self._start(slot.handle, request)
        else:
            request.done, request.cls = end_s, "timeout"
            self.finished += 1
            self._free(slot)

    def _free(self, slot: Slot) -> None:
        """The next in a kept connection's queue is due at once."""
        slot.busy = False
        if slot.queue:
            heapq.heappush(self.due, (0.0, len(self.requests), slot.queue.popleft()))

    def _start(self, handle: Any, request: Request) -> None:
        handle.request, request.handle, request.start = request, handle, mono()
        started = self.wire.start(handle)
        if request.handle:
            request.start = started

    def _ended(self, handle: Any, code: int, now: float) -> None:
        request, slot = handle.request, handle.slot
        connects = handle.getinfo(pycurl.NUM_CONNECTS)
        self.opened += connects if slot else bool(connects and handle.getinfo(pycurl.CONNECT_TIME))
        if request:
            self.finished += 1
            request.finish(handle, code, now)
            handle.request = request.handle = None
            if self.closed and len(self.requests) < self.offered:
                after = self._plan(request.stream, now + self.plan["think_s"])
                heapq.heappush(self.due, (after.intended, len(self.requests), after))
        handle.body.clear()
        if slot:
            self._free(slot)
        elif handle.sock:
            handle.sock.close()
        elif request:
            request.stream.spare.append(handle)

    def _abandon(self, now: float) -> None:
        """After a stop: what is in flight ends as the client's error; what was not sent stays unsent."""
        for request in self.requests:
            if request.handle:
                request.times(request.handle, now)
                request.status, request.cls = 0, "client_error"
        for _ in range(self.offered - len(self.requests)):
            self._plan(self.streams[0], now)
