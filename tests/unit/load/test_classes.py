"""One request, one class, and they add up whatever the server does."""

from __future__ import annotations

import socket
import threading
from collections import Counter

import pytest
from waitlab.load.client import run_plan
from waitlab.load.plans import Plan, Stream, burst, spaced
from waitlab.load.samples import ERROR_CLASSES, OK


@pytest.mark.parametrize(
    ("behaviour", "cls", "status"),
    [
        ("500", "http_error", 500),
        ("404", "http_error", 404),
        ("redirect", "http_error", 302),
        ("503", "rejected", 503),
        ("429", "rejected", 429),
        ("nonsense", "http_error", 0),
        ("reset", "reset", 0),
        ("hang up", "reset", 0),
        ("cut short", "reset", 200),
        ("nothing", "timeout", 0),
        ("no json", "ok", 200),
        ("a list", "ok", 200),
        ("wrong types", "ok", 200),
    ],
)
def test_class_of_what_a_server_does(broken, behaviour, cls, status):
    server = broken(behaviour)
    stream = Stream("one", f"{server.url}/x", burst(3), timeout_s=0.3)
    samples = run_plan(Plan((stream,))).samples
    assert [(s.cls, s.status) for s in samples] == [(cls, status)] * 3
    assert all(s.thread == "" and s.server_started_us is None for s in samples)
    assert all(s.sent_s is not None and s.done_s is not None for s in samples)


def test_a_time_out_counts_with_its_full_time(broken):
    server = broken("nothing")
    (sample,) = run_plan(Plan((Stream("one", f"{server.url}/x", (0.0,), timeout_s=0.2),))).samples
    assert sample.cls == "timeout"
    assert sample.latency_ms >= 199
    assert sample.first_byte_s is None


def test_nobody_listens_is_refused_and_never_sent():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    plan = Plan(
        (
            Stream("new", f"http://127.0.0.1:{port}/x", burst(3)),
            Stream("first", f"http://127.0.0.1:{port}/x", burst(2), connect_first=True),
            Stream("kept", f"http://127.0.0.1:{port}/x", burst(50), connection="kept", connections=1),
        )
    )
    result = run_plan(plan)
    assert Counter(s.cls for s in result.samples) == {"refused": 55}
    assert all(s.sent_s is None for s in result.samples)
    assert result.client["connections_opened"] == 0


def test_a_connection_that_is_never_accepted_is_a_time_out_and_its_syn_is_counted(broken):
    """The accept queue is full: the kernel drops the SYN, and asks again a second later."""
    server = broken("no json", backlog=0, accepting=False)
    plan = Plan((Stream("one", f"{server.url}/x", burst(6), timeout_s=1.4),))
    result = run_plan(plan)
    assert Counter(s.cls for s in result.samples) == {"timeout": 6}
    never_sent = sum(s.sent_s is None for s in result.samples)
    if result.client["retransmits"] is None:
        pytest.skip("this kernel does not count retransmitted SYNs")
    assert result.client["retransmits"] >= never_sent > 0


def test_classes_add_up_when_the_server_dies_in_the_middle(broken):
    answered = threading.Semaphore(5)

    def five_then_die(connection: socket.socket) -> None:
        if answered.acquire(blocking=False):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        else:
            server.close()

    server = broken(five_then_die)
    plan = Plan((Stream("one", f"{server.url}/x", spaced(40, 0.01), timeout_s=1.0),))
    result = run_plan(plan)
    classes = Counter(s.cls for s in result.samples)
    assert sum(classes.values()) == 40
    assert set(classes) <= {OK, *ERROR_CLASSES}
    assert classes[OK] == 5
    assert classes["refused"] > 0
    assert not result.partial


def test_a_kept_connection_that_the_server_closes_is_opened_again(broken):
    def answer_and_close(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        connection.close()

    server = broken(answer_and_close)
    stream = Stream("kept", f"{server.url}/x", spaced(3, 0.05), connection="kept", connections=1)
    result = run_plan(Plan((stream,)))
    assert [s.cls for s in result.samples] == ["ok"] * 3
    assert result.client["connections_opened"] == 4
