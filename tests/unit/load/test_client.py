"""The engine's process: it stops when told, ends with its owner, and its death is told as a sentence."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import psutil
import pytest
from waitlab.errors import LoadError
from waitlab.load.client import ENGINE, ENGINE_FOLDER, run_plan
from waitlab.load.plans import Plan, Stream, burst, spaced

LABS = Path(__file__).resolve().parents[3] / "labs"


@pytest.fixture
def long_plan(broken):
    """Ten requests in flight that are never answered, ten that are due in half a minute."""
    server = broken("nothing")
    return Plan((Stream("long", f"{server.url}/x", (*burst(10), *burst(10, at=30.0))),))


def assert_stopped(result) -> None:
    """It ended before the second ten were due, and by itself: one that has to be killed brings no samples."""
    assert result.partial
    classes = Counter(s.cls for s in result.samples)
    assert classes["client_error"] + classes["unsent"] == 20
    assert classes["unsent"] >= 10
    assert classes["client_error"] > 0
    for sample in result.samples:
        assert (sample.sent_s is None) == (sample.done_s is None) == (sample.cls == "unsent")


def test_stop_ends_a_run_and_classes_add_up(long_plan, engines):
    stop = threading.Event()
    result = run_plan(long_plan, progress=lambda *_: stop.set(), stop=stop)
    assert_stopped(result)
    assert engines() == []


def test_a_stop_that_comes_with_the_plan_is_heard_too(long_plan, engines):
    stop = threading.Event()
    stop.set()
    result = run_plan(long_plan, stop=stop)
    assert result.partial and Counter(s.cls for s in result.samples) == {"unsent": 20}
    assert engines() == []


def test_interrupt_ends_a_run_with_what_there_is(long_plan, engines):
    interrupts = iter([signal.SIGINT])

    def progress(_done: int, _of: int) -> None:
        for once in interrupts:
            signal.raise_signal(once)

    result = run_plan(long_plan, progress=progress)
    assert_stopped(result)
    assert engines() == []


def test_the_terminals_interrupt_does_not_reach_the_engine(stub, engines):
    signalled = []

    def progress(_done: int, _of: int) -> None:
        for engine in engines():
            assert os.getpgid(engine.pid) != os.getpgid(0)
            with contextlib.suppress(psutil.NoSuchProcess):  # it may have told all and ended
                engine.send_signal(signal.SIGINT)
                signalled.append(engine)

    result = run_plan(Plan((Stream("slow", f"{stub}/slow", spaced(10, 0.1)),)), progress=progress)
    assert signalled and Counter(s.cls for s in result.samples) == {"ok": 10}
    assert not result.partial


def test_stop_is_heard_while_connections_are_still_being_opened(broken):
    """Nobody accepts, so the preparations hang; the stop comes before time 0."""
    server = broken("no json", backlog=0, accepting=False)
    plan = Plan((Stream("first", f"{server.url}/x", burst(8), connect_first=True),))
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    result = run_plan(plan, stop=stop)
    assert result.partial
    assert Counter(s.cls for s in result.samples) == {"unsent": 8}


def test_a_stopped_closed_loop_still_offers_all(broken):
    server, stop = broken("nothing"), threading.Event()
    plan = Plan((Stream("closed", f"{server.url}/x", ()),), "closed", users=2, requests=9)
    result = run_plan(plan, progress=lambda *_: stop.set(), stop=stop)
    assert Counter(s.cls for s in result.samples) == {"client_error": 2, "unsent": 7}


def test_an_engine_killed_in_the_middle_is_told_in_a_sentence(long_plan, engines):
    def progress(_done: int, _of: int) -> None:
        for engine in engines():
            engine.kill()

    with pytest.raises(LoadError) as error:
        run_plan(long_plan, progress=progress)
    assert "ended in the middle" in str(error.value)
    assert "exit code -9" in error.value.found
    assert "Try:" in str(error.value)


def test_an_error_in_the_owners_code_leaves_no_engine_behind(long_plan, engines):
    def progress(_done: int, _of: int) -> None:
        raise RuntimeError("the owner's own")

    with pytest.raises(RuntimeError, match="own"):
        run_plan(long_plan, progress=progress)
    assert engines() == []


def test_the_engine_ends_when_its_owner_is_killed(broken, tmp_path):
    server = broken("nothing")
    script = tmp_path / "owner.py"
    script.write_text(
        "from waitlab.load.client import run_plan\n"
        "from waitlab.load.plans import Plan, Stream\n"
        f"run_plan(Plan((Stream('one', '{server.url}/x', (0.0,)),)), progress=lambda *_: print('on', flush=True))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(LABS)}
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, env=environment) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        (engine,) = psutil.Process(owner.pid).children()
        owner.kill()
    gone, alive = psutil.wait_procs([engine], timeout=5)
    assert gone
    assert not alive


def test_the_engine_can_be_run_by_another_command(stub):
    argv = ["sh", "-c", 'cd "$0" && exec "$@"', str(ENGINE_FOLDER), *ENGINE]
    result = run_plan(Plan((Stream("one", f"{stub}/fast", burst(3)),)), argv=argv)
    assert Counter(s.cls for s in result.samples) == {"ok": 3}


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (["/no/such/command"], "No such file"),
        (["sh", "-c", "echo this is no JSON; exit 3"], "exit code 3"),
        (["sh", "-c", "echo what is wrong >&2; exit 1"], "what is wrong"),
        (["sh", "-c", 'echo "[1]"; exit 1'], "exit code 1"),
    ],
)
def test_a_command_that_is_no_engine_is_told_in_a_sentence(argv, found):
    with pytest.raises(LoadError) as error:
        run_plan(Plan((Stream("one", "http://127.0.0.1:1/x", (0.0,)),)), argv=argv)
    assert found in error.value.found


def test_too_few_descriptors_are_refused_with_both_numbers(broken):
    server = broken("no json")
    limited = ["sh", "-c", 'ulimit -n 100 && cd "$0" && exec "$@"', str(ENGINE_FOLDER), *ENGINE]
    with pytest.raises(LoadError, match=r"264 open files.*100"):
        run_plan(Plan((Stream("many", f"{server.url}/x", burst(200)),)), argv=limited)
    assert server.seen == []


def test_a_low_soft_limit_is_raised(stub):
    lowered = ["sh", "-c", 'ulimit -Sn 64 && cd "$0" && exec "$@"', str(ENGINE_FOLDER), *ENGINE]
    result = run_plan(Plan((Stream("many", f"{stub}/slow", burst(200)),)), argv=lowered)
    assert Counter(s.cls for s in result.samples) == {"ok": 200}


def test_an_address_that_leads_nowhere_is_refused():
    with pytest.raises(LoadError, match="leads to no host"):
        run_plan(Plan((Stream("one", "http://no-such-host.invalid:80/x", (0.0,)),)))


def test_progress_counts_up_to_all(stub):
    heard: list[tuple[int, int]] = []
    plan = Plan((Stream("slow", f"{stub}/slow", spaced(8, 0.05)),))
    run_plan(plan, progress=lambda done, of: heard.append((done, of)))
    assert heard == sorted(heard)
    assert {of for _, of in heard} == {8}
    assert len(heard) <= 8


def test_a_run_from_another_thread_works(stub):
    results = []
    plan = Plan((Stream("one", f"{stub}/fast", burst(2)),))
    thread = threading.Thread(target=lambda: results.append(run_plan(plan)))
    thread.start()
    thread.join(10)
    assert Counter(s.cls for s in results[0].samples) == {"ok": 2}


def test_an_empty_plan_is_a_run_of_nothing():
    result = run_plan(Plan(()))
    assert result.samples == ()
    assert not result.partial
