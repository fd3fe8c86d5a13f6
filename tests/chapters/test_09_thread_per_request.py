"""Chapter 9: which kind of thread served, before how long it took; then relations, and theory's figures in bounds."""

from __future__ import annotations

import pytest
from measured_again import holds

pytestmark = [pytest.mark.usefixtures("built"), pytest.mark.timeout(660)]

STEM = "09_thread_per_request"
POOLS = (200, 20, 100, 500, 1000)


@pytest.fixture(scope="module")
def book(open_book, built):  # noqa: ARG001
    """The chapter, executed from its first cell to its last."""
    with open_book(STEM) as opened:
        opened.execute_all()
        yield opened


def served_by(run, word):
    """Whether every request of a Run was served by a thread with this word in its name."""
    return all(word in name for name in run["series"]["requests"]["threads"])


def p50(run):
    return run["series"]["requests"]["p50_ms"]


def throughput(run):
    return run["facts"]["throughput_per_s"]


def all_ok(run):
    return run["series"]["requests"]["ok"] == run["series"]["requests"]["offered"]


def new_platform_threads(run):
    return run["facts"]["platform_threads_peak"] - run["facts"]["platform_threads_baseline"]


# -- 1. Fifty threads, five hundred users ------------------------------------------------------------------------


@holds("fifty")
def test_fifty_workers_of_the_pool_served(book):
    bare, tomcat = book.runs("fifty")
    assert served_by(bare, "worker-") and served_by(tomcat, "-exec-")
    for run in (bare, tomcat):
        assert run["facts"]["workers_peak"] == run["facts"]["threads_that_served"] == 50
        assert run["in_force"]["pool_size"] == 50
        assert run["client"]["retransmits"] in (0, None)


@holds("fifty")
def test_five_hundred_users_are_served_in_ten_waves(book):
    for run in book.runs("fifty"):
        assert all_ok(run) and run["facts"]["waves"] == 10
        assert 1000 <= run["facts"]["wall_ms"] <= 1500
        assert 330 <= throughput(run) <= 1.02 * run["facts"]["ceiling_per_s"]
        assert 450 <= p50(run) <= 760
        assert 950 <= run["series"]["requests"]["p99_ms"] <= 1500


# -- 2. A larger pool, or none ---------------------------------------------------------------------------------


def by_pool(book):
    return {run["settings"]["pool_size"]: run for run in book.runs("pools") if run["settings"]["threads"] == "platform"}


def virtual(book):
    (run,) = [run for run in book.runs("pools") if run["settings"]["threads"] == "virtual"]
    return run


@holds("pools")
def test_the_kind_of_thread_is_the_one_that_was_asked_for(book):
    assert all(served_by(run, "-exec-") for run in by_pool(book).values())
    run = virtual(book)
    assert served_by(run, "virtual-")
    assert set(run["facts"]["sleeping_by_kind"]) == {"virtual"}
    assert run["facts"]["sleeping_by_kind"]["virtual"] > run["facts"]["processors"] + 4
    assert run["facts"]["workers_peak"] == 0


def test_the_pool_changes_live_up_and_down(book):
    pools = by_pool(book)
    assert {size: run["in_force"]["pool_size"] for size, run in pools.items()} == {size: size for size in POOLS}
    tomcats = [book.runs("fifty")[1], *pools.values(), *book.runs("silent")]
    assert [run["in_force"]["pool_size"] for run in tomcats] == [50, *POOLS, 50]
    assert len({run["in_force"]["pid"] for run in tomcats}) == 1


@holds("pools")
def test_pools_have_the_threads_they_need(book):
    peaks = {size: run["facts"]["workers_peak"] for size, run in by_pool(book).items()}
    assert {size: peaks[size] for size in (20, 100, 200)} == {20: 20, 100: 100, 200: 200}
    assert 200 <= peaks[500] <= 500 and 200 <= peaks[1000] <= 500
    assert new_platform_threads(virtual(book)) <= virtual(book)["facts"]["processors"] + 4


@holds("fifty pools")
def test_a_larger_pool_shortens_the_wait_for_a_thread_and_nothing_else(book):
    pools = by_pool(book)
    assert p50(pools[20]) > p50(pools[100]) > p50(pools[200])
    assert 190 <= p50(pools[200]) <= 520
    assert min(p50(run) for run in pools.values()) >= 100
    assert all(throughput(run) <= 1.02 * run["facts"]["ceiling_per_s"] for run in pools.values())
    assert virtual(book)["facts"]["wall_ms"] < book.runs("fifty")[1]["facts"]["wall_ms"] / 2


# -- 3. What is not waiting ------------------------------------------------------------------------------------


@holds("floor")
def test_a_bare_pool_makes_a_thread_for_each_of_the_crowd(book):
    made, floor, virtual_floor = book.runs("floor")
    assert [run["facts"]["workers_peak"] for run in (made, floor, virtual_floor)] == [500, 500, 0]
    assert served_by(made, "worker-") and served_by(virtual_floor, "virtual-")
    assert made["facts"]["waves"] == 1
    assert made["facts"]["wall_ms"] >= 100
    assert new_platform_threads(virtual_floor) <= virtual_floor["facts"]["processors"] + 4


# -- 4. A rate, not a crowd --------------------------------------------------------------------------------------


@holds("steady")
def test_below_the_ceiling_nobody_queues_and_above_it_the_wait_grows(book):
    above, close, calm = book.runs("steady")
    assert [run["facts"]["ceiling_per_s"] for run in book.runs("steady")] == [500] * 3
    assert p50(calm) == pytest.approx(100, rel=0.15)
    assert p50(close) < p50(above)
    seconds = above["facts"]["p50_ms_by_second"]
    assert len(seconds) == 6 and seconds[-1] > 3 * seconds[0]


# -- 5. Downstream slows -----------------------------------------------------------------------------------------


@holds("fifty slow silent")
def test_ten_times_the_service_time_is_a_tenth_of_the_throughput(book):
    slow, more = book.runs("slow")
    quick = max(throughput(run) for run in (book.runs("fifty")[1], *book.runs("silent")))
    assert 8.5 <= quick / throughput(slow) <= 11.5
    assert throughput(more) > 5 * throughput(slow)


# -- 6. Cores times two ------------------------------------------------------------------------------------------


@holds("cores")
def test_two_threads_a_core_waste_the_cores_on_work_that_waits(book):
    (run,) = book.runs("cores")
    assert run["settings"]["pool_size"] == 2 * run["facts"]["processors"]
    assert run["facts"]["ceiling_per_s"] == 20 * run["facts"]["processors"]
    assert 0.75 * run["facts"]["ceiling_per_s"] <= throughput(run) <= 1.02 * run["facts"]["ceiling_per_s"]


@holds("compute")
def test_for_work_that_computes_the_cores_are_the_ceiling(book):
    sized, many = book.runs("compute")
    assert sized["settings"]["pool_size"] == sized["model"]["threads_for_cores"] == 5 * sized["facts"]["processors"]
    assert many["settings"]["pool_size"] == 5 * sized["settings"]["pool_size"]
    assert throughput(many) < 3 * throughput(sized)
    for run in (sized, many):
        assert run["facts"]["ceiling_per_s"] == 50 * run["facts"]["processors"]
        assert throughput(run) <= 1.1 * run["facts"]["ceiling_per_s"]


# -- 7. Three calls ----------------------------------------------------------------------------------------------


@holds("calls")
def test_three_calls_at_once_take_a_third_of_the_time(book):
    at_once, in_turn = book.runs("calls")
    assert served_by(in_turn, "-exec-") and served_by(at_once, "-exec-")
    assert 300 <= p50(in_turn) <= 450
    assert 100 <= p50(at_once) <= 0.7 * p50(in_turn)


# -- 8. The next limit behind the limit --------------------------------------------------------------------------


@holds("postgres")
def test_the_connections_are_the_ceiling_on_both_kinds_of_threads(book):
    platform, light = book.runs("postgres")
    assert served_by(platform, "-exec-") and served_by(light, "virtual-")
    for run in (platform, light):
        assert all_ok(run) and run["in_force"]["jdbc_pool_size"] == 10
        assert 85 <= throughput(run) <= 105


# -- 9. A thread for each connection -----------------------------------------------------------------------------


@holds("silent")
def test_silent_connections_cost_a_thread_per_request_nothing(book):
    (run,) = book.runs("silent")
    assert all_ok(run) and run["facts"]["waves"] == 10
    assert run["client"]["idle_open"] == 200
    assert run["facts"]["wall_ms"] <= 1500


@holds("held")
def test_silent_connections_take_the_threads_of_a_thread_per_connection(book):
    few, none = book.runs("held")
    assert few["in_force"]["model"] == none["in_force"]["model"] == "connection"
    assert all_ok(few) and few["facts"]["threads_that_served"] == 10 and few["facts"]["waves"] == 50
    assert none["series"]["requests"]["errors"] == {"timeout": 500}


# -- exercises ---------------------------------------------------------------------------------------------------

SOLUTIONS = {
    "exercise-median": ("0)", "400)"),
    "exercise-pool": ("pool_size=50", "pool_size=200"),
    "exercise-database": ("pool_size=200", "pool_size=200, jdbc_pool_size=20"),
}


@pytest.mark.parametrize("tag", SOLUTIONS)
def test_an_exercise_passes_solved_and_not_before(book, tag):
    book.solves(tag, *SOLUTIONS[tag])
