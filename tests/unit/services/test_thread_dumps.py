"""Thread dumps read from the JVM's own JSON."""

from __future__ import annotations

import json
import sys

import pytest
from waitlab.errors import ServiceError
from waitlab.services.threads import FRAMES, ThreadInfo, dump, groups, parse

LOOP = {"tid": "21", "name": "reactor-http-epoll-1", "state": "RUNNABLE", "stack": ["io.netty.Native.wait0"]}
PARKED = {
    "tid": "40",
    "name": "",
    "state": "WAITING",
    "virtual": True,
    "stack": [f"frame{i}" for i in range(30)],
    "parkBlocker": {"object": "java.util.concurrent.locks.AbstractQueuedSynchronizer@1"},
}
BLOCKED = {"tid": 41, "name": "t", "state": "BLOCKED", "stack": [], "blockedOn": "java.lang.Object@2"}
MOUNTED = {"tid": 42, "name": "v", "state": "RUNNABLE", "virtual": True, "stack": [], "carrier": "22"}


def text(*containers):
    return json.dumps({"threadDump": {"threadContainers": list(containers)}})


def parsed(*threads):
    return parse(text({"container": "<root>", "threads": list(threads)}))


def test_a_platform_thread():
    assert parsed(LOOP) == [
        ThreadInfo("reactor-http-epoll-1", "RUNNABLE", False, ("io.netty.Native.wait0",), None, 21, None, "<root>")
    ]


def test_a_parked_virtual_thread_says_on_what():
    (thread,) = parsed(PARKED)
    assert thread.virtual
    assert thread.blocked_on == "java.util.concurrent.locks.AbstractQueuedSynchronizer@1"
    assert thread.top_frames == tuple(f"frame{i}" for i in range(FRAMES))


def test_a_blocked_thread_names_the_monitor():
    (thread,) = parsed(BLOCKED)
    assert (thread.state, thread.blocked_on) == ("BLOCKED", "java.lang.Object@2")


def test_a_mounted_virtual_thread_names_its_carrier():
    (thread,) = parsed(MOUNTED)
    assert (thread.tid, thread.carrier) == (42, 22)


def test_threads_of_all_containers_are_there():
    found = parse(text({"container": "<root>", "threads": [LOOP]}, {"container": "pool", "threads": [PARKED, MOUNTED]}))
    assert [thread.container for thread in found] == ["<root>", "pool", "pool"]


def test_families_are_told_by_their_names():
    other = {**LOOP, "name": "reactor-http-epoll-12"}
    assert groups(parsed(LOOP, other, PARKED)) == {
        "reactor-http-epoll-#": 2,
        "(virtual, without a name)": 1,
    }


@pytest.mark.parametrize("tool", [sys.executable, "/no/such/jcmd"])
def test_a_tool_that_writes_nothing_is_a_sentence_even_if_it_says_it_did(tool, tmp_path):
    with pytest.raises(ServiceError, match="wrote no thread dump"):
        dump(tmp_path / tool, 1, tmp_path)
