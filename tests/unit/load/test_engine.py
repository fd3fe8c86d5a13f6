"""The engine against servers that behave: connections, send times, and who waits for whom."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections import Counter

import pytest
from waitlab.load.client import run_plan
from waitlab.load.plans import Plan, Stream, burst, spaced, steady
from waitlab.load.verdict import steady_verdict

CLOCK_US = 1000  # libcurl's time-stamp may follow the send by a moment on a busy machine


def test_each_request_of_a_burst_has_a_connection_of_its_own(broken):
    server = broken("no json")
    result = run_plan(Plan((Stream("burst", f"{server.url}/x", burst(20)),)))
    assert [s.cls for s in result.samples] == ["ok"] * 20
    assert [len(seen.requests) for seen in server.seen] == [1] * 20
    assert result.client["connections_opened"] == 20
    assert all(b"Connection: close" in seen.requests[0][1] for seen in server.seen)


def test_times_are_in_order_and_on_the_servers_clock(stub):
    result = run_plan(Plan((Stream("slow", f"{stub}/slow", spaced(20, 0.005)),)))
    for sample in result.samples:
        assert sample.intended_s <= sample.sent_s <= sample.first_byte_s <= sample.done_s
        assert sample.intended_s * 1e6 <= sample.server_started_us + CLOCK_US
        assert sample.server_ended_us <= sample.done_s * 1e6 + CLOCK_US
        assert sample.thread == "stub-1"
    assert [s.intended_s - result.t0 for s in result.samples] == pytest.approx(spaced(20, 0.005), abs=1e-5)


def test_nothing_is_sent_before_it_is_due(broken):
    server = broken("no json")
    result = run_plan(Plan((Stream("later", f"{server.url}/x", (0.05, 0.1)),)))
    arrivals = sorted(seen.requests[0][0] for seen in server.seen)
    assert all(at >= sample.intended_s for at, sample in zip(arrivals, result.samples, strict=True))


def test_an_engine_that_was_frozen_confesses_its_lateness(stub, engines):
    """Latency runs from the intended time, so the freeze is in it, and the run is void."""
    frozen = threading.Event()

    def freeze(_done: int, _of: int) -> None:
        if not frozen.is_set():
            frozen.set()
            (engine,) = engines()
            os.kill(engine.pid, signal.SIGSTOP)
            threading.Timer(0.3, os.kill, (engine.pid, signal.SIGCONT)).start()

    plan = Plan((Stream("steady", f"{stub}/fast", steady(200, 1.0)),), "steady")
    result = run_plan(plan, progress=freeze)
    worst = max(result.samples, key=lambda s: s.lag_ms)
    assert worst.lag_ms > 200
    assert worst.latency_ms >= worst.lag_ms
    assert result.client["saturated"]
    assert "late" in result.client["why"]
    assert steady_verdict(result.samples, 0.1).void


def test_kept_connections_are_opened_once_and_take_turns(numbered):
    stream = Stream("kept", f"{numbered.url}/x", spaced(9, 0.01), connection="kept", connections=3)
    result = run_plan(Plan((stream,)))
    assert [s.thread for s in result.samples] == [f"connection {i % 3}" for i in range(9)]
    assert result.client["connections_opened"] == len(numbered.seen) == 3
    for seen in numbered.seen:
        assert [request.split(b" ")[1] for _, request in seen.requests] == [b"/fast", b"/x", b"/x", b"/x"]


def test_kept_connections_are_warm_before_time_0(numbered):
    stream = Stream("kept", f"{numbered.url}/x", (0.0,), connection="kept", connections=2)
    result = run_plan(Plan((stream,)))
    assert all(seen.requests[0][0] < result.t0 for seen in numbered.seen)
    assert b"Host: 127.0.0.1:%d" % numbered.port in numbered.seen[0].requests[0][1]


def test_a_busy_kept_connection_makes_the_next_request_queue(stub):
    stream = Stream("kept", f"{stub}/sleep?ms=40", burst(4), connection="kept", connections=1)
    samples = run_plan(Plan((stream,))).samples
    assert [s.cls for s in samples] == ["ok"] * 4
    ends = [s.done_s for s in samples]
    assert ends == sorted(ends)
    for before, after in itertools.pairwise(samples):
        assert after.sent_s >= before.done_s
    assert samples[3].latency_ms >= 160
    assert samples[3].lag_ms >= 120


def test_time_spent_queueing_for_a_kept_connection_counts_for_the_time_out(broken):
    server = broken(lambda connection: None)
    stream = Stream("kept", f"{server.url}/x", burst(3), timeout_s=0.3, connection="kept", connections=1)
    server.behave = lambda connection: (
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") if len(requests(server)) == 1 else None
    )
    samples = run_plan(Plan((stream,))).samples
    assert [s.cls for s in samples] == ["timeout"] * 3
    assert all(s.latency_ms >= 299 for s in samples)
    assert len(requests(server)) < 4


def requests(server) -> list[bytes]:
    return [request for seen in server.seen for _, request in seen.requests]


def test_connections_opened_first_are_accepted_in_order_before_time_0_and_used_once(numbered):
    stream = Stream("first", f"{numbered.url}/x", spaced(6, 0.01), connect_first=True)
    result = run_plan(Plan((stream,)))
    assert [s.thread for s in result.samples] == [f"connection {i}" for i in range(6)]
    assert [len(seen.requests) for seen in numbered.seen] == [1] * 6
    assert all(seen.requests[0][0] >= result.t0 for seen in numbered.seen)
    assert result.client["connections_opened"] == 6
    if result.client["accepts_seen"]:
        assert all(seen.before_accept_s < result.t0 for seen in numbered.seen)


def test_an_opened_connection_that_the_server_closed_ends_as_reset(broken):
    server = broken("no json")
    server._serve = lambda connection, seen: connection.close()
    stream = Stream("first", f"{server.url}/x", (0.2,), connect_first=True)
    (sample,) = run_plan(Plan((stream,))).samples
    assert sample.cls == "reset"


def test_idle_connections_stay_open_and_silent(broken):
    server = broken("no json")
    stream = Stream("few", f"{server.url}/x", burst(2))
    result = run_plan(Plan((stream,), idle_connections=30, idle_url=server.url))
    silent = [seen for seen in server.seen if not seen.requests]
    assert len(silent) == result.client["idle_open"] == 30
    assert all(seen.before_accept_s < result.t0 for seen in silent)
    assert result.client["connections_opened"] == 2


def test_more_connections_can_be_held_than_select_could_watch(stub):
    stream = Stream("first", f"{stub}/fast", burst(2), connect_first=True)
    result = run_plan(Plan((stream,), idle_connections=1050, idle_url=stub))
    assert result.client["idle_open"] == 1050
    assert [s.cls for s in result.samples] == ["ok", "ok"]


def test_users_of_a_closed_loop_wait_for_their_answers(stub):
    plan = Plan((Stream("closed", f"{stub}/sleep?ms=10", ()),), "closed", users=3, requests=15)
    samples = run_plan(plan).samples
    assert Counter(s.cls for s in samples) == {"ok": 15}
    starts = [(s.sent_s, 1) for s in samples]
    ends = [(s.done_s, -1) for s in samples]
    in_flight = peak = 0
    for _, step in sorted(starts + ends):
        in_flight += step
        peak = max(peak, in_flight)
    assert peak <= 3
    assert {s.intended_s for s in samples[3:]} <= {s.done_s for s in samples}


def test_streams_run_side_by_side(stub):
    slow = Stream("slow", f"{stub}/sleep?ms=100", burst(3))
    fast = Stream("fast", f"{stub}/fast", spaced(3, 0.01))
    samples = run_plan(Plan((slow, fast))).samples
    assert Counter(s.series for s in samples) == {"slow": 3, "fast": 3}
    assert max(s.done_s for s in samples if s.series == "fast") < min(s.done_s for s in samples if s.series == "slow")


def test_a_thousand_at_once_are_all_answered(stub):
    result = run_plan(Plan((Stream("burst", f"{stub}/slow", burst(1000)),)))
    assert Counter(s.cls for s in result.samples) == {"ok": 1000}
    assert result.client["connections_opened"] == 1000
    assert not result.partial


def test_headers_travel(broken):
    server = broken("no json")
    stream = Stream("one", f"{server.url}/x", (0.0,), headers=(("X-Lab", "seven"),))
    run_plan(Plan((stream,)))
    assert b"X-Lab: seven\r\n" in server.seen[0].requests[0][1]


def test_the_proxy_of_the_environment_is_not_asked(broken, monkeypatch):
    server = broken("no json")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    (sample,) = run_plan(Plan((Stream("one", f"{server.url}/x", (0.0,)),))).samples
    assert sample.cls == "ok"
