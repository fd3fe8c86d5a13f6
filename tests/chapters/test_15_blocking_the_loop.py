"""Chapter 15: which thread served it, before how long it took; relations on medians of five, theory in bounds."""

import os
from statistics import median

import pytest
from measured_again import holds

pytestmark = [pytest.mark.usefixtures("built"), pytest.mark.timeout(660)]

LOOP, ELASTIC = "reactor-http-", "boundedElastic-"
WAYS = ("none", "onloop", "offload 64", "offload 4")


@pytest.fixture(scope="module")
def book(open_book, built):  # noqa: ARG001
    """The chapter, executed from its first cell to its last."""
    with open_book("15_blocking_the_loop") as opened:
        opened.execute_all()
        yield opened


def by_way(book):
    """The Runs of the five repeats by their way of blocking."""
    found = {}
    for run in book.runs("five-repeats"):
        where = run["settings"]["where"]
        name = f"offload {run['settings']['offload_pool_size']}" if where == "offload" else where
        found.setdefault(name, []).append(run)
    return found


def middle(runs, *path):
    def value(run):
        for name in path:
            run = run[name]
        return run

    return median(value(run) for run in runs)


def throughput(runs):
    return middle(runs, "facts", "throughput_per_s")


def p50(runs):
    return middle(runs, "series", "normal", "p50_ms")


# -- 1. The line -------------------------------------------------------------------------------------------


def test_just_calls_before_anybody_subscribes(book):
    (run,) = book.runs("eager-or-deferred")
    rows = {row["form"]: row for row in run["facts"]["rows"]}
    calls = {form: row["calls_before_subscribe"] for form, row in rows.items()}
    assert calls == {form: int(form.startswith("just")) for form in rows} and len(rows) == 5
    moved = {form for form, row in rows.items() if row["ran_on"].startswith(ELASTIC)}
    assert moved == {"fromCallable(call).subscribeOn(offload)"}
    assert all(row["ran_on"].startswith(LOOP) for form, row in rows.items() if form not in moved)


# -- 2. One in a hundred -----------------------------------------------------------------------------------


def test_every_way_was_measured_five_times_and_every_request_counted(book):
    ways = by_way(book)
    assert {name: len(runs) for name, runs in ways.items()} == dict.fromkeys(WAYS, 5)
    for runs in ways.values():
        for run in runs:
            counted = {name: (s["offered"], s["ok"], s["errors"]) for name, s in run["series"].items()}
            assert counted == {"normal": (1980, 1980, {}), "blocking": (20, 20, {})}


def test_blocks_are_waited_for_where_they_should_be(book):
    for name, runs in by_way(book).items():
        for run in runs:
            innocents, blocks = (run["series"][kind]["threads"] for kind in ("normal", "blocking"))
            assert all(thread.startswith("loop-") for thread in innocents)
            assert all(thread.startswith("offload-" if "offload" in name else "loop-") for thread in blocks)
            assert len(innocents) <= run["in_force"]["event_loops"] == 8
            assert len(blocks) <= (20 if "offload" not in name else run["in_force"]["offload_pool_size"])


@holds("five-repeats")
def test_one_in_a_hundred_takes_most_of_the_throughput(book):
    ways = by_way(book)
    assert throughput(ways["none"]) > 3 * throughput(ways["onloop"])
    assert p50(ways["onloop"]) > 2 * p50(ways["none"])


@holds("five-repeats")
def test_theory_of_a_shared_queue_finds_the_wall(book):
    runs = by_way(book)["onloop"]
    assert middle(runs, "facts", "wall_ms") == pytest.approx(middle(runs, "facts", "predicted_wall_ms"), rel=0.25)
    assert all(run["facts"]["measured_hold_us"] >= 200 for run in runs)


@holds("five-repeats")
def test_moving_protects_and_does_not_accelerate(book):
    ways = by_way(book)
    for name in ("offload 64", "offload 4"):
        assert p50(ways[name]) < 1.5 * p50(ways["none"])
    assert 2 < throughput(ways["offload 64"]) / throughput(ways["offload 4"]) < 4
    assert throughput(ways["offload 64"]) < throughput(ways["none"])


@holds("five-repeats arrivals slowest")
def test_the_slowest_innocent_waited_for_the_queue_and_not_for_a_block(book):
    """Its loop never did anything else than serve innocents, and it is among the last of the queue."""
    assert book.value("all(s.thread.startswith('offload-') for s in moved.series['blocking'].samples)")
    assert book.value("slowest.thread").startswith("loop-")
    assert book.value("slowest.index") > 1500


# -- 3. Not the count but the time -------------------------------------------------------------------------


@holds("five-repeats rare")
def test_the_same_occupancy_hurts_fewer_when_it_is_rare(book):
    (rare,) = book.runs("rare")
    assert rare["series"]["blocking"]["ok"] == 2
    assert rare["series"]["normal"]["p50_ms"] < p50(by_way(book)["onloop"])


# -- 4. Who pays -------------------------------------------------------------------------------------------


@holds("pinned")
def test_dealt_in_turn_two_loops_pay_for_all(book):
    facts = [run["facts"] for run in (*book.runs("pinned"), *again(book, 4))]
    assert {tuple(one["blocks_by_loop"].items()) for one in facts} == {(("loop-4", 10), ("loop-8", 10))}
    assert 0.15 < median(one["over_block_share"] for one in facts) < 0.35
    wall = median(one["wall_ms"] for one in facts)
    assert wall == pytest.approx(median(one["predicted_wall_ms"] for one in facts), rel=0.25)


def again(book, times):
    """The pinned crowd that many times more, as facts."""
    call = 'run("one-percent", where="onloop", assignment="pinned").to_dict()["facts"]'
    return [{"facts": book.value(call)} for _ in range(times)]


def test_the_number_of_loops_decides_who_is_hit(book):
    most = {run["settings"]["loops"]: run["facts"]["blocks_on_busiest_loop"] for run in book.runs("by-loops")}
    assert most == {7: 3, 9: 3, 4: 20}


@holds("five-repeats pinned random")
def test_drawn_loops_lie_in_between(book):
    walls = [run["facts"]["wall_ms"] for run in book.runs("random")]
    shared = middle(by_way(book)["onloop"], "facts", "wall_ms")
    assert 0.9 * shared < median(walls) < book.runs("pinned")[0]["facts"]["wall_ms"]
    for run in book.runs("random"):
        assert run["facts"]["blocks_on_busiest_loop"] == run["model"]["blocks_on_busiest_loop"]


# -- 5. A pool for the blocks ------------------------------------------------------------------------------


@holds("pools")
def test_throughput_follows_the_pool_until_each_block_has_a_thread(book):
    by_size = {run["settings"]["offload_pool_size"]: run for run in book.runs("pools")}
    done = {size: run["facts"]["throughput_per_s"] for size, run in by_size.items()}
    assert done[1] < done[2] < done[4] < done[8] < done[20]
    for size in (1, 2, 4):
        wall = by_size[size]["facts"]["wall_ms"]
        assert wall == pytest.approx(by_size[size]["facts"]["predicted_wall_ms"], rel=0.25)
    assert len(by_size[64]["series"]["blocking"]["threads"]) == 20


# -- 6. The same over HTTP ---------------------------------------------------------------------------------


def test_over_http_the_queries_wait_where_they_should(book):
    runs = {run["settings"]["where"]: run for run in book.runs("webflux")}
    assert {run["in_force"]["event_loops"] for run in runs.values()} == {4}
    threads = {where: run["series"]["blocking"]["threads"] for where, run in runs.items()}
    assert all(name.startswith(LOOP) for name in threads["onloop"])
    assert all(name.startswith("offload-") for name in threads["offload"])
    assert not any(name.startswith((ELASTIC, "offload-", LOOP)) for name in threads["r2dbc"])
    for run in runs.values():
        assert sum(s["offered"] for s in run["series"].values()) == 1500
        assert all(s["offered"] == s["ok"] + sum(s["errors"].values()) for s in run["series"].values())


@holds("webflux")
def test_over_http_moving_protects_the_innocents(book):
    p90 = {run["settings"]["where"]: run["series"]["normal"]["p90_ms"] for run in book.runs("webflux")}
    assert p90["onloop"] > 5 * p90["offload"]
    assert p90["onloop"] > 5 * p90["r2dbc"]


# -- 7. Code review does not find it -----------------------------------------------------------------------


@holds("innocent-looking")
def test_blockhound_sees_three_of_seven(book):
    (run,) = book.runs("innocent-looking")
    rows = {row["call"]: row for row in run["facts"]["rows"]}
    assert all(row["ran_on"].startswith(LOOP) for row in rows.values())
    assert {call for call, row in rows.items() if row["detected"]} == {"jdbc-template", "rest-template", "lock"}
    assert "Unsafe.park" in rows["lock"]["method"] and "read" in rows["jdbc-template"]["method"]
    for call in ("jdbc-template", "rest-template", "lock", "synchronized"):
        assert rows[call]["held_ms"] > 40
    assert all(row["held_ms"] > 1 for row in rows.values())


# -- exercises ---------------------------------------------------------------------------------------------

SOLUTIONS = {
    "exercise-hit": (", 12)", ", 3)"),
    "exercise-victim": ("loops=8", "loops=9"),
    "exercise-threads": ("offload_pool_size=10", "offload_pool_size=20"),
    "exercise-quiet": ("onloop", "r2dbc"),
}


@pytest.mark.parametrize("tag", SOLUTIONS)
def test_an_exercise_passes_solved_and_not_before(book, tag):
    book.solves(tag, *SOLUTIONS[tag])


# -- spinning ----------------------------------------------------------------------------------------------


def test_spinning_serves_everybody_too(book):
    """Nothing else is asserted: eight spinning loops need eight cores."""
    series = book.value('run("one-percent", hold="spin", where="onloop", requests=200).to_dict()["series"]')
    assert sum(s["ok"] for s in series.values()) == 200


def test_the_runtime_is_the_one_that_was_asked_for(book):
    asked = os.environ.get("WAITLAB_RUNTIME") or "embedded"
    assert {run["runtime"] for run in book.runs("five-repeats")} == {asked}
