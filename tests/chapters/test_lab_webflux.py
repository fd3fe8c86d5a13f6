"""The WebFlux lab: which thread served it, before how long it took; then relations, and theory's figures in bounds."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from measured_again import holds
from nbclient.exceptions import DeadKernelError

pytestmark = [pytest.mark.usefixtures("built"), pytest.mark.timeout(660)]

LOOP = "reactor-http-"
ELASTIC = "boundedElastic-"
BLOCK_MS, HEAD_START_MS = 2000, 300


@pytest.fixture(scope="module")
def book(open_book, built):  # noqa: ARG001
    """The chapter, executed from its first cell to its last."""
    with open_book("lab_webflux") as opened:
        opened.execute_all()
        yield opened


def only(book, tag):
    """The Run of a cell that shows one."""
    (run,) = book.runs(tag)
    return run


def on(run, prefix):
    """Whether every blocked call was held by a thread of that name."""
    return all(name.startswith(prefix) for name in run["facts"]["blocked_threads"])


# -- 1. How many loops are there? --------------------------------------------------------------------------


def test_loops_are_the_processors_but_at_least_four(book):
    runs = {run["settings"]["cpus"]: run["facts"] for run in book.runs("loops")}
    assert {cpus: facts["event_loops"] for cpus, facts in runs.items()} == {2: 4, 4: 4, 6: 6}
    assert {cpus: facts["bounded_elastic_size"] for cpus, facts in runs.items()} == {2: 20, 4: 40, 6: 60}
    for facts in runs.values():
        assert len(set(facts["event_loop_threads"])) == facts["event_loops"]
        assert facts["available_processors"] in runs


@holds("loops")
def test_requests_are_dealt_to_the_loops_in_turn(book):
    for run in book.runs("loops"):
        dealt = run["series"]["fast"]["threads"]
        assert set(dealt) <= set(run["facts"]["event_loop_threads"])
        assert max(dealt.values()) - min(dealt.values()) <= 2


# -- 2. A baseline -----------------------------------------------------------------------------------------


@holds("baseline")
def test_nobody_waits_when_nobody_is_in_the_way(book):
    _quiet(only(book, "baseline"), BLOCK_MS / 2)


def _quiet(run, under_ms):
    fast = run["series"]["fast"]
    assert fast["ok"] == fast["offered"]
    assert fast["max_ms"] < under_ms


# -- 3. Four sleepers --------------------------------------------------------------------------------------


@holds("four-sleepers")
def test_four_sleepers_hold_four_loops(book):
    run = only(book, "four-sleepers")
    assert on(run, LOOP)
    assert len(run["facts"]["blocked_threads"]) == run["facts"]["event_loops"] == 4


@holds("four-sleepers")
def test_every_bystander_waits_for_the_end_of_the_sleep(book):
    first = only(book, "four-sleepers")["facts"]["first_fast_wait_ms"]
    assert first == pytest.approx(BLOCK_MS - HEAD_START_MS, rel=0.1)
    samples = "four.series['fast'].samples"
    sent = book.value(f"[((s.intended_s - four.t0_s) * 1000, s.latency_ms) for s in {samples}]")
    end = only(book, "four-sleepers")["facts"]["all_blocked_ms"]
    before = [(at, wait) for at, wait in sent if at < BLOCK_MS]
    assert len(before) == 9
    assert [at + wait for at, wait in before] == [pytest.approx(end, rel=0.05)] * len(before)


@holds("one-sleeper")
def test_one_sleeper_holds_everybody_where_it_meets_the_accepting_loop(book):
    runs = [run["facts"] for run in book.runs("one-sleeper")]
    hit = [facts["accepting_thread"] in facts["blocked_threads"] for facts in runs]
    assert any(hit) and not all(hit)
    for facts, hard in zip(runs, hit, strict=True):
        assert len(facts["blocked_threads"]) == 1
        assert facts["held_share"] == (1.0 if hard else pytest.approx(1 / 4, abs=2 / 9))


@holds("kept-alive")
def test_a_connection_kept_alive_on_another_loop_is_answered(book):
    runs = [run["facts"] for run in book.runs("kept-alive")]
    assert any(facts["accepting_thread"] in facts["blocked_threads"] for facts in runs)
    assert [facts["held_share"] for facts in runs] == [0.5] * len(runs)


@holds("own-accept")
def test_with_a_loop_of_its_own_for_accepting_the_share_is_k_of_the_loops(book):
    for run in book.runs("own-accept"):
        facts, k = run["facts"], run["settings"]["k"]
        assert facts["accepting_thread"] not in facts["blocked_threads"]
        assert facts["held_share"] == pytest.approx(k / facts["event_loops"], abs=2 / 8)


# -- 4. Who ran it? ----------------------------------------------------------------------------------------


def test_which_operator_moves_the_query(book):
    rows = {row["endpoint"]: row for row in only(book, "who-runs-it")["facts"]["rows"]}
    ran_on = {name: row["blocking_call_ran_on"] for name, row in rows.items()}
    assert {name: kind(thread) for name, thread in ran_on.items()} == {
        "sleep": "loop",
        "jdbc": "loop",
        "jdbc-isolated": "elastic",
        "jdbc-publish": "loop",
        "callable-publish": "elastic",
        "r2dbc": "none",
    }
    assert kind(rows["jdbc-publish"]["continued_on"]) == "elastic"
    assert kind(rows["callable-publish"]["continued_on"]) == "elastic"


def kind(thread):
    return "loop" if thread.startswith(LOOP) else "elastic" if thread.startswith(ELASTIC) else "none"


# -- 5. Isolated -------------------------------------------------------------------------------------------


@holds("isolated")
def test_isolated_queries_wait_on_elastic_threads_and_hurt_nobody(book):
    run = only(book, "isolated")
    assert on(run, ELASTIC) and len(run["facts"]["blocked_threads"]) >= 8
    _quiet(run, 150)


@holds("narrow")
def test_isolation_is_not_capacity(book):
    run = only(book, "narrow")
    assert run["in_force"]["offload_pool_size"] == 2 == len(run["facts"]["blocked_threads"])
    assert run["facts"]["all_blocked_ms"] == pytest.approx(4000, rel=0.1)
    _quiet(run, 150)


@holds("two-limits")
def test_threads_and_connections_are_two_limits(book):
    threads, connections = book.runs("two-limits")
    assert threads["in_force"]["offload_pool_size"] < 21 <= threads["in_force"]["jdbc_pool_size"]
    assert connections["in_force"]["jdbc_pool_size"] < 20 <= connections["in_force"]["offload_pool_size"]
    for run in (threads, connections):
        assert run["facts"]["all_blocked_ms"] == pytest.approx(2000, rel=0.15)


@holds("many-loops")
def test_more_loops_leave_the_share(book):
    run = only(book, "many-loops")
    assert len(run["facts"]["blocked_threads"]) == 20 and run["facts"]["event_loops"] == 40
    assert run["facts"]["held_share"] == pytest.approx(0.5, abs=2 / 40)


# -- 6. Not blocking at all --------------------------------------------------------------------------------


@holds("r2dbc")
def test_r2dbc_waits_on_no_thread_but_has_a_pool_too(book):
    eight, twenty = book.runs("r2dbc")
    assert not any(kind(thread) == "elastic" for run in (eight, twenty) for thread in run["facts"]["blocked_threads"])
    _quiet(eight, 150)


# -- 7. Caught in the act ----------------------------------------------------------------------------------


def test_blockhound_sees_what_blocks_a_loop(book):
    rows = {row["endpoint"]: row for row in only(book, "blockhound")["facts"]["rows"]}
    assert {name for name, row in rows.items() if row["detected"]} == {"sleep", "jdbc", "jdbc-publish"}
    assert "sleep" in rows["sleep"]["method"]
    assert all(row["thread"].startswith(LOOP) for row in rows.values() if row["detected"])


# -- exercises ---------------------------------------------------------------------------------------------

SOLUTIONS = {
    "exercise-rest": ("0)", "1800)"),
    "exercise-smallest": ("k=3", "k=6"),
    "exercise-quiet": ("jdbc-publish", "jdbc-isolated"),
    "exercise-forty": ("offload_pool_size=20", "jdbc_pool_size=20"),
}


@pytest.mark.parametrize("tag", SOLUTIONS)
def test_an_exercise_passes_solved_and_not_before(book, tag):
    book.solves(tag, *SOLUTIONS[tag])


# -- and nothing is left -----------------------------------------------------------------------------------


def test_nothing_is_left_of_a_kernel_that_was_killed(open_book):
    with open_book("lab_webflux", budget_s=90) as book:
        book.execute("import")
        book.execute("baseline")
        threading.Thread(target=kill_in_a_run, args=(book,), daemon=True).start()
        with pytest.raises(DeadKernelError):
            book.execute("four-sleepers")
        assert len(book.seen) > 5
        assert book.left() == []


def kill_in_a_run(book):
    """Kills the kernel as soon as the load engine, a child of it, runs."""
    end = time.monotonic() + 30
    while not book.children() and time.monotonic() < end:
        time.sleep(0.005)
    book.look()
    os.kill(book.kernel, signal.SIGKILL)
