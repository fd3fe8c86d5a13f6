"""A plan carried out: what is opened before time 0, what is sent when it is due, what became of it."""

from __future__ import annotations

import gc
import heapq
import select
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import pycurl

from .handles import Request, Slot, Stream, use_socket
from .machine import accept_queue, resolve, still_open, syn_retransmits
from .wire import Wire, mono, say

PREPARED = 6000  # handles made before time 0, at most, a stream
LEAD_S = 0.005  # from the end of the preparations to time 0
GAP_S = 0.005  # between connections whose acceptance cannot be seen
CONNECT_S = 5.0  # for a connection that is opened before time 0


class Runner:
    """Sends a plan's requests when they are due, and collects what became of them."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.closed = plan["kind"] == "closed"
        self.offered = plan["requests"] if self.closed else sum(len(s["at_s"]) for s in plan["streams"])
        self.streams = [Stream(number, spec) for number, spec in enumerate(plan["streams"])]
        self.wire = Wire(self._finish)
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
            self.idle = [s for n in range(1, wanted + 1) if (s := self._open(target, n % 50 == 0 or n == wanted))]
        for stream in self.streams:
            for slot in stream.slots:
                self._warm(slot)
            if stream.connect_first:
                stream.opened_first.extend(self._open(stream.target) for _ in stream.at_s)
            if not stream.slots:
                count = min(len(stream.at_s) or self.plan["users"], PREPARED)
                stream.spare = [stream.handle() for _ in range(count)]

    def _open(self, target: tuple[str, int], confirm: bool = True) -> socket.socket | None:
        """A connection that the server has accepted (where that can be seen); None where it cannot be had."""
        try:
            sock = socket.create_connection(target, CONNECT_S)
        except OSError:
            return None
        deadline = mono() + CONNECT_S
        while confirm and (waiting := accept_queue(target[1])) != 0 and mono() < deadline:
            self.wire.pause(0.001 if waiting else GAP_S)
            if waiting is None:
                self.accepts_seen = False
                break
        self.wire.pause(0)
        return sock

    def _warm(self, slot: Slot) -> None:
        slot.handle.setopt(pycurl.URL, urlsplit(slot.url)._replace(path="/fast", query="").geturl())
        slot.busy = True
        self.wire.start(slot.handle)
        while slot.busy:
            self.wire.turn(0.1)
            self.wire.pause(0)
        slot.handle.setopt(pycurl.URL, slot.url)

    def run(self) -> None:
        """The plan, from time 0 to the end of its last request, or to a stop."""
        gc.disable()
        retransmits, cpu_s, t0 = syn_retransmits(), time.process_time(), mono() + LEAD_S
        for user in range(min(self.plan["users"], self.offered) if self.closed else 0):
            self._plan(self.streams[user % len(self.streams)], t0)
        for stream in self.streams:
            for at in stream.at_s:
                self._plan(stream, t0 + at)
        say({"started": t0})
        while self.finished < self.offered and not self.wire.stopped:
            self._send_due()
            now = mono()
            self.wire.turn(min(self.due[0][0] - now, 0.1) if self.due else 0.1, self._send_due)
            if now - self.reported > 0.1:
                self.reported = now
                say({"progress": self.finished, "of": self.offered})
        cpu_share = (time.process_time() - cpu_s) / (mono() - t0 + LEAD_S)
        self._abandon()
        self._report(cpu_share, None if retransmits is None else (syn_retransmits() or 0) - retransmits)

    def _report(self, cpu_share: float, retransmits: int | None) -> None:
        facts = {
            "connections_opened": self.opened,
            "cpu_share": round(cpu_share, 4),
            "retransmits": retransmits,
            "accepts_seen": self.accepts_seen,
            "idle_open": sum(map(still_open, self.idle)),
            "stopped": self.finished < self.offered,
            "libcurl": pycurl.version_info()[1],
        }
        say({"done": facts, "samples": [request.row() for request in self.requests]})

    def _plan(self, stream: Stream, intended: float) -> None:
        request = Request(stream, stream.planned, intended)
        stream.planned += 1
        self.requests.append(request)
        heapq.heappush(self.due, (intended, len(self.requests), request))

    def _send_due(self) -> None:
        if not self.due or self.due[0][0] > mono():
            return
        request = heapq.heappop(self.due)[2]
        stream = request.stream
        if stream.slots:
            slot = stream.slots[request.index % len(stream.slots)]
            slot.queue.append(request)
            self._next_in(slot)
        else:
            handle = stream.handle()
            if stream.opened_first:
                use_socket(handle, stream.opened_first.popleft())
            self._start(handle, request)

    def _next_in(self, slot: Slot) -> None:
        """Starts the next request of a kept connection; those whose time ran out in the queue end here."""
        while slot.queue and not slot.busy:
            request = slot.queue.popleft()
            end_s = request.intended + request.stream.timeout_ms / 1000
            left_ms = round((end_s - mono()) * 1000)
            if left_ms > 0:
                slot.busy = True
                slot.handle.setopt(pycurl.TIMEOUT_MS, left_ms)
                self._start(slot.handle, request)
            else:
                request.done, request.cls = end_s, "timeout"
                self.finished += 1

    def _start(self, handle: Any, request: Request) -> None:
        handle.request, request.handle, request.start = request, handle, mono()
        self.wire.start(handle)

    def _finish(self, handle: Any, code: int, now: float) -> None:
        request, slot = handle.request, handle.slot
        self.opened += handle.getinfo(pycurl.NUM_CONNECTS) if slot else bool(handle.getinfo(pycurl.CONNECT_TIME_T))
        if request:
            self.finished += 1
            request.finish(handle, code, now)
            handle.request = request.handle = None
            if self.closed and len(self.requests) < self.offered:
                self._plan(request.stream, now + self.plan["think_s"])
        handle.body.clear()
        if slot:
            slot.busy = False
            self._next_in(slot)
        elif handle.sock:
            handle.sock.close()
        else:
            request.stream.spare.append(handle)

    def _abandon(self) -> None:
        """After a stop: what is in flight ends as the client's error; what was not sent stays unsent."""
        now = mono()
        for request in self.requests:
            if request.handle:
                request.times(request.handle, now)
                request.cls = "client_error"
