"""Chapter 18: who was let in and who served, before how long it took; theory in bounds, relations between ways."""

import os
import re

import pytest
from measured_again import holds
from waitlab import decide

pytestmark = [pytest.mark.usefixtures("built"), pytest.mark.timeout(1000)]

LEAST_MS = 20_000 / 50 * 20
WAYS = ("pool", "large", "virtual", "gated")
STACKS = ("mvc-platform", "mvc-virtual", "webflux-jdbc-offloaded", "webflux-r2dbc")


@pytest.fixture(scope="module")
def book(open_book, built):  # noqa: ARG001
    """The chapter, executed from its first cell to its last."""
    with open_book("18_choosing", 940) as opened:
        opened.execute_all()
        yield opened


def four(book):
    return dict(zip(WAYS, book.runs("four-ways"), strict=True))


def each(runs, name):
    return {way: run["facts"][name] for way, run in runs.items()}


def test_everybody_was_served_on_the_threads_that_were_asked_for(book):
    runs = four(book)
    assert all(run["series"]["served"]["ok"] == 20_000 for run in runs.values())
    threads = {way: run["series"]["served"]["threads"] for way, run in runs.items()}
    kinds = {way: {name.rstrip("-0123456789") for name in names} for way, names in threads.items()}
    assert kinds == {"pool": {"pool"}, "large": {"pool"}, "virtual": {"virtual"}, "gated": {"virtual"}}


@holds("four-ways")
def test_no_way_is_faster_than_the_downstream(book):
    walls = each(four(book), "wall_ms")
    assert min(walls.values()) >= LEAST_MS
    assert max(walls.values()) <= 1.4 * min(walls.values())
    rates = each(four(book), "throughput_per_s")
    assert 0.7 <= rates["large"] / rates["pool"] <= 1.15


@holds("four-ways")
def test_who_is_in_flight_is_decided_by_whoever_limits(book):
    peaks = each(four(book), "in_flight_peak")
    assert (peaks["pool"], peaks["large"], peaks["gated"]) == (200, 2000, 200) and peaks["virtual"] > 18_000


@holds("four-ways real-hold")
def test_what_lacks_to_the_ceiling_is_in_the_sleeps_and_the_hand_over(book):
    said = [line.replace(",", "") for line in book.text("real-hold").splitlines()]
    assert len(said) == 4
    for line in said:
        hold_ms, hand_over_ms, most, measured = map(float, re.findall(r"\d+(?:\.\d+)?", line.partition(":")[2]))
        assert hold_ms >= 20 and hand_over_ms >= 0 and measured <= 1.02 * most <= 1.02 * 2500


def test_fifty_connections_are_the_same_wall_for_both_kinds_of_threads(book):
    for run, threads in zip(book.runs("postgres"), ("fixed", "virtual"), strict=True):
        assert (run["in_force"]["capacity"], run["settings"]["threads"]) == (50, threads)
        assert run["facts"]["served"] == 2000
        assert run["facts"]["wall_ms"] >= run["model"]["wall_ms"] == 800


@holds("payload")
def test_a_queue_without_end_holds_what_a_gate_keeps_outside(book):
    queued, behind = book.runs("payload")
    assert queued["facts"]["in_flight_peak"] == behind["facts"]["in_flight_peak"] == 200
    for held, facts in ((20_000, queued["facts"]), (200, behind["facts"])):
        assert facts["heap_peak_mb"] < held * 50 / 1024 * 1.2 + 5
    # a second into the run a busy machine has not handed all of them over yet
    assert queued["facts"]["heap_peak_mb"] > max(20_000 * 50 / 1024 * 0.2, 5 * behind["facts"]["heap_peak_mb"])


@holds("four-ways bytes")
def test_a_virtual_thread_is_small_and_not_nothing(book):
    runs = four(book)
    assert runs["virtual"]["facts"]["heap_peak_mb"] > 5 * runs["gated"]["facts"]["heap_peak_mb"] > 0
    assert 0.5 < book.value("each") < 6


@holds("died")
def test_a_crowd_too_heavy_for_the_heap_ends_its_own_jvm_and_no_other(book):
    facts = book.runs("died")[0]["facts"]
    assert facts["ended_by"] in ("out_of_memory", "wall_limit")
    assert facts["failed"] > 0 and facts["served"] + facts["failed"] == 20_000
    assert max(look["value"] for look in facts["heap_over_time"]) > 0.3 * 1024


@holds("four-ways three")
def test_a_gate_that_rejects_serves_few_in_time_and_tells_the_rest_at_once(book):
    (run,) = book.runs("three")
    facts, served = run["facts"], run["series"]["served"]
    assert 200 <= facts["served"] <= 260 and facts["served"] + facts["dropped"] == 20_000
    assert served["errors"] == {"rejected": facts["dropped"]}
    assert served["p99_ms"] < 0.05 * four(book)["gated"]["series"]["served"]["p99_ms"]


@holds("inside")
def test_a_gate_inside_the_task_comes_too_late(book):
    inside, door = book.runs("inside")
    assert inside["in_force"]["gate"] == door["in_force"]["gate"] == 200
    assert inside["facts"]["in_flight_peak"] > 10 * door["facts"]["in_flight_peak"] == 10 * 200


@holds("unguarded")
def test_a_small_server_refuses_the_crowd_and_the_gate_saves_it(book):
    none, wide, narrow = book.runs("unguarded")
    assert 1000 <= none["facts"]["served"] < 0.8 * 5000
    assert none["series"]["served"]["errors"] == {"refused": 5000 - none["facts"]["served"]}
    assert wide["facts"]["served"] == narrow["facts"]["served"] == 5000
    assert narrow["facts"]["throughput_per_s"] > wide["facts"]["throughput_per_s"]


@holds("cpu-bound")
def test_more_threads_compute_no_faster(book):
    rounds = book.runs("cpu-bound")[0]["facts"]["walls_each_by_way"]
    assert 0.85 <= min(rounds["virtual"]) / min(rounds["cores"]) <= 1.3


@holds("pressure")
def test_pressure_bounds_every_queue_and_the_source(book):
    free, gate, asked = book.runs("pressure")
    assert free["facts"]["queue_peak"]["sink"] > 3 * gate["facts"]["queue_peak"]["sink"]
    for run in (gate, asked):
        bounds = run["model"]["queue_peak_at_most"]
        assert all(run["facts"]["queue_peak"][stage] <= most for stage, most in bounds.items())
        assert run["facts"]["consumed"] == run["facts"]["produced"] < free["facts"]["produced"]


def by_stack(book, tag):  # of two rates the last
    return {run["settings"]["stack"]: run for run in book.runs(tag)}


@holds("below above")
def test_each_stack_was_measured_on_its_own_threads(book):
    offloaded = re.compile("boundedElastic-|offload-")
    kinds = {"mvc-platform": re.compile(".*-exec-"), "mvc-virtual": re.compile("virtual-"), STACKS[2]: offloaded}
    for tag in ("below", "above"):
        runs = by_stack(book, tag)
        assert tuple(runs) == STACKS
        for stack, kind in kinds.items():
            assert all(kind.match(name) for name in runs[stack]["series"]["requests"]["threads"])
        assert not any(offloaded.match(name) for name in runs["webflux-r2dbc"]["series"]["requests"]["threads"])
        assert all(run["series"]["requests"]["ok"] == run["series"]["requests"]["offered"] > 0 for run in runs.values())


@holds("below")
def test_below_the_knee_the_four_are_equal(book):
    p50 = [run["series"]["requests"]["p50_ms"] for run in by_stack(book, "below").values()]
    assert max(p50) <= 1.2 * min(p50)
    assert {run["facts"]["first_limit"] for run in by_stack(book, "below").values()} == {"none"}


@holds("above")
def test_above_it_the_connections_are_named_on_all_four(book):
    for run in by_stack(book, "above").values():
        assert 430 <= run["facts"]["throughput_per_s"] <= 500
        assert run["facts"]["first_limit"] in ("jdbc pool", "r2dbc pool")


@holds("above")
def test_the_surplus_stands_where_each_stack_lets_it(book):
    waits = {
        stack: {place: queue["wait_ms"] for place, queue in run["facts"]["queues"].items() if queue}
        for stack, run in by_stack(book, "above").items()
    }
    offloaded = waits["webflux-jdbc-offloaded"]
    assert offloaded["scheduler"] > 5 * offloaded["connections"]
    for stack in ("mvc-virtual", "webflux-r2dbc"):
        assert max(waits[stack], key=waits[stack].get) == "connections"
    assert min(waits["mvc-platform"]["workers"], waits["mvc-platform"]["connections"]) > 20


@holds("freed")
def test_behind_freed_connections_only_the_offload_pool_is_too_small(book):
    runs, sheet = by_stack(book, "freed"), decide(connections=100, rate_per_s=1300)
    hit = {stack: run["facts"]["first_limit"] for stack, run in runs.items()}
    assert hit.pop(STACKS[2]) == sheet[STACKS[2]].hit == "offload pool"
    assert {sheet[stack].hit for stack in hit} == {"none"} and set(hit.values()) <= {"none", "cpu"}
    assert {run["in_force"]["jdbc_pool_size"] for run in runs.values()} == {100}


@holds("below above")
def test_the_sheet_agrees_with_the_four_stacks(book):
    for run in (*by_stack(book, "below").values(), *by_stack(book, "above").values()):
        row = decide(rate_per_s=run["settings"]["rate_per_s"])[run["settings"]["stack"]]
        assert row.hit == run["facts"]["first_limit"]
        assert row.ceiling_per_s == run["facts"]["knee_per_s"]
        if row.hit != "none":
            assert 0.8 * row.ceiling_per_s < run["facts"]["throughput_per_s"] <= row.ceiling_per_s


@holds("four-ways")
def test_the_sheet_agrees_with_the_crowd(book):
    service = {"wait_ms": 20, "cpu_ms": 0.01, "connections": 50, "patience_ms": 80, "payload_kb": 0, "crowd": 20_000}
    free, gated, runs = decide(**service), decide(**service, gate=200), four(book)
    rows = {"pool": free["mvc-platform"], "virtual": free["mvc-virtual"], "gated": gated["mvc-virtual"]}
    for row, facts_of_run in ((row, runs[way]["facts"]) for way, row in rows.items()):
        assert (row.first_limit, row.ceiling_per_s) == ("jdbc pool", facts_of_run["ceiling_per_s"])
        assert 0.9 * row.in_flight_peak <= facts_of_run["in_flight_peak"] <= row.in_flight_peak
    assert free["mvc-virtual"].admit == gated["mvc-virtual"].in_flight_peak == 200
    alive = runs["virtual"]["facts"]["heap_peak_mb"] - runs["gated"]["facts"]["heap_peak_mb"]
    assert 0.5 * alive < free["mvc-virtual"].heap_peak_mb - gated["mvc-virtual"].heap_peak_mb < 2 * alive


@holds("payload")
def test_the_sheet_agrees_with_what_a_queue_holds(book):
    rows = decide(payload_kb=50)["mvc-platform"], decide(payload_kb=50, gate=200)["mvc-virtual"]
    for held, row, run in zip((20_000, 200), rows, book.runs("payload"), strict=True):
        assert row.heap_peak_mb == pytest.approx(held * 50 / 1024, rel=0.1)
        assert run["facts"]["heap_peak_mb"] < 1.2 * row.heap_peak_mb + 5


def test_the_sheet_is_shown_with_its_sliders(book):
    assert book.value("explore(decide, rate_per_s=700).sheet['mvc-virtual'].hit") == "jdbc pool"


SOLUTIONS = {
    "exercise-gate": (", 400)", ", 100)"),
    "exercise-pool": ("pool_size=20", "pool_size=50"),
    "exercise-heap": ("payload_kb=20", "payload_kb=20, gate=200"),
    "exercise-knee": ("rate_per_s=700", "rate_per_s=700, jdbc_pool_size=20"),
}


@pytest.mark.parametrize("tag", SOLUTIONS)
def test_an_exercise_passes_solved_and_not_before(book, tag):
    book.solves(tag, *SOLUTIONS[tag])


def test_the_runtime_is_the_one_that_was_asked_for(book):
    asked = {os.environ.get("WAITLAB_RUNTIME") or "embedded"}
    assert {run["runtime"] for run in (*book.runs("four-ways"), *book.runs("below"))} == asked
