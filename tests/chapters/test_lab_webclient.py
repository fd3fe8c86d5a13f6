"""The WebClient lab: frames before times; relations, and theory's figures within bounds."""

import os
from statistics import median

import pytest
from measured_again import holds

pytestmark = [pytest.mark.usefixtures("built"), pytest.mark.timeout(660)]


@pytest.fixture(scope="module")
def book(open_book, built):  # noqa: ARG001
    """The chapter, executed from its first cell to its last."""
    with open_book("lab_webclient") as opened:
        opened.execute_all()
        yield opened


def by(runs, *names):
    """Runs by what they were asked."""
    return {tuple(run["settings"][name] for name in names): run for run in runs}


def doing(run, group, what):
    """How many threads of a group did that, in the dump."""
    rows = run["facts"]["threads"]
    return sum(row["count"] for row in rows if (row["group"], row["doing"]) == (group, what))


# -- 1. Four clients, one controller -----------------------------------------------------------------------


@holds("mono")
def test_a_returned_mono_leaves_the_workers_idle(book):
    (run,) = book.runs("mono")
    assert run["facts"]["calls_hanging"] == 200
    assert run["facts"]["exec_busy_peak"] <= 5
    assert run["series"]["slow"]["ok"] == 200


@holds("clients")
def test_block_waits_in_mono_block_and_the_others_in_the_jdk_client(book):
    runs = by(book.runs("clients"), "client")
    block = runs[("webclient-block",)]
    assert block["facts"]["exec_waiting_in_block_peak"] >= 190
    for client in ("resttemplate", "restclient"):
        found = runs[(client,)]["facts"]
        assert found["exec_waiting_in_jdk_client_peak"] >= 190
        assert found["exec_waiting_in_block_peak"] == 0


@holds("trap")
def test_what_boot_detects_is_reactor_netty_and_blocks_in_a_mono(book):
    (run,) = book.runs("trap")
    assert run["facts"]["exec_waiting_in_block_peak"] >= 190
    assert run["facts"]["exec_waiting_in_jdk_client_peak"] == 0
    assert run["in_force"]["http_factory"].startswith("Jdk")
    assert run["in_force"]["http_factory_detected"].startswith("Reactor")


@holds("mono clients")
def test_the_returned_mono_needs_far_fewer_threads(book):
    mono = book.value("mono.facts['threads_added']")
    assert mono < book.runs("clients")[0]["facts"]["threads_added"] - 100


# -- 2. The bystander --------------------------------------------------------------------------------------


@holds("bystander-50")
def test_fifty_blocked_threads_stop_a_bystander_and_a_mono_does_not(book):
    runs = by(book.runs("bystander-50"), "client")
    stuck, free = (runs[(client,)] for client in ("webclient-block", "webclient-mono"))
    assert stuck["in_force"]["pool_size"] == free["in_force"]["pool_size"] == 50
    assert free["series"]["user"]["p99_ms"] < 0.25 * stuck["series"]["user"]["p99_ms"]
    assert stuck["series"]["user"]["p50_ms"] == pytest.approx(stuck["model"]["user_p50_ms"], rel=0.25)


# -- 3. Is it faster? --------------------------------------------------------------------------------------


@holds("five")
def test_each_client_is_measured_five_times_and_waits_for_the_same_api(book):
    runs = book.runs("five")
    clients = [run["settings"]["client"] for run in runs]
    assert {client: clients.count(client) for client in clients} == dict.fromkeys(set(clients), 5) and len(runs) == 20
    assert all(run["series"]["slow"]["ok"] == 200 and run["series"]["slow"]["errors"] == {} for run in runs)
    assert all(run["series"]["slow"]["p50_ms"] >= 500 for run in runs)
    assert all(run["facts"]["cpu_ms_per_request"] > 0 for run in runs)


# -- 4. The connection held --------------------------------------------------------------------------------


@holds("held")
def test_a_connection_held_makes_pool_over_api_time(book):
    runs = by(book.runs("held"), "boundary")
    inside, split = runs[("transaction",)], runs[("split",)]
    assert inside["facts"]["connection_held"] and not split["facts"]["connection_held"]
    assert inside["facts"]["pool_timeouts"] > 0 and split["facts"]["pool_timeouts"] == 0
    assert inside["series"]["slow"]["throughput_per_s"] == pytest.approx(10, rel=0.2)
    assert split["series"]["slow"]["ok"] == 50
    assert inside["facts"]["pool_active_p50"] >= 8 > split["facts"]["pool_active_p50"]


@holds("held")
def test_who_gave_up_was_turned_away_at_the_pool(book):
    for run in book.runs("held"):
        lost = sum(series["offered"] - series["ok"] for series in run["series"].values())
        assert lost == run["facts"]["pool_timeouts"]


@holds("thousand")
def test_apart_a_thousand_users_lose_nothing(book):
    (run,) = book.runs("thousand")
    counted = {name: (s["offered"], s["ok"]) for name, s in run["series"].items()}
    assert counted == {"slow": (1000, 1000), "user": (1000, 1000)}


@holds("eight")
def test_eight_combinations_do_what_theory_says(book):
    runs = book.runs("eight")
    assert len(by(runs, "open_in_view", "boundary", "client")) == 8
    for run in runs:
        held, told = run["facts"]["connection_held"], run["model"]["connection_held"]
        assert held == told
        assert (run["facts"]["pool_timeouts"] > 0) == held
        assert (run["facts"]["pool_active_p50"] >= 8) == held
    named = by(runs, "open_in_view", "boundary", "client")
    free = [key for key, run in named.items() if not run["facts"]["connection_held"]]
    assert set(free) == {
        (False, "split", "webclient-block"),
        (False, "split", "webclient-mono"),
        (False, "transaction", "webclient-mono"),
    }


@holds("import")
def test_open_in_view_holds_like_a_transaction(book):
    found = book.value('run("connection-held", boundary="osiv", user_calls=0).to_dict()')
    assert found["in_force"]["open_in_view"] is True
    assert found["facts"]["pool_timeouts"] > 0
    assert found["series"]["slow"]["throughput_per_s"] == pytest.approx(10, rel=0.2)


def test_an_error_after_the_commit_rolls_nothing_back(book):
    (run,) = book.runs("errors")
    assert {row["client"]: row["kept"] for row in run["facts"]["rows"]} == {
        "restclient": False,
        "webclient-block": False,
        "webclient-mono": True,
    }


# -- 5. Virtual threads do the same ------------------------------------------------------------------------


@holds("clients virtual")
def test_virtual_threads_wait_in_the_workers_place(book):
    (run,) = book.runs("virtual")
    assert run["facts"]["exec_busy_peak"] <= 5
    assert doing(run, "virtual", "in the JDK client") >= 190
    blocked = by(book.runs("clients"), "client")[("restclient",)]
    assert run["series"]["user"]["p99_ms"] < 0.25 * blocked["series"]["user"]["p99_ms"]
    assert run["facts"]["threads_added"] < blocked["facts"]["threads_added"]
    assert f"live_threads_peak: 250; measured: {run['facts']['live_threads_peak']};" in book.text("virtual")


# -- 6. The answer that was chosen -------------------------------------------------------------------------


@holds("silent")
def test_without_a_breaker_everybody_waits_for_the_time_out(book):
    (run,) = book.runs("silent")
    assert run["facts"]["answer_ms_p99"] >= run["in_force"]["timeout_ms"] == 3000
    assert run["facts"]["answer_ms_p50"] >= 3000
    assert run["facts"]["stale_served"] == run["series"]["requests"]["ok"] == 100
    assert [one["state"] for one in run["facts"]["states"]][1:] == []


@holds("breaker")
def test_the_breaker_opens_and_tries_again_when_theory_says(book):
    (run,) = book.runs("breaker")
    states = run["facts"]["states"]
    first = {name: next(one["at_ms"] for one in states if one["state"] == name) for name in ("open", "half-open")}
    assert [one["state"] for one in states][:3] == ["closed", "open", "half-open"]
    assert run["model"]["opens_at_ms"] <= first["open"] < run["model"]["opens_at_ms"] + 600
    assert first["open"] + 1000 <= first["half-open"] < run["model"]["half_open_at_ms"] + 1100
    assert states[3]["at_ms"] - first["half-open"] < 3000, "late failures of earlier calls end it, not its probes"


@holds("breaker")
def test_whoever_is_refused_has_an_old_answer_at_once(book):
    (run,) = book.runs("breaker")
    found = run["facts"]
    assert found["stale_served"] == 110 and run["series"]["requests"]["ok"] == 110
    assert found["refused_by_breaker"] > 20
    took = [ms for ms, no in zip(found["answers"]["ms"], found["answers"]["refused"], strict=True) if no]
    assert median(took) < 3000 / 50 and found["max_once_open_ms"] < 3000 / 5


@holds("breaker")
def test_old_answers_grow_older(book):
    (run,) = book.runs("breaker")
    told = run["facts"]["answers"]
    refused = [age for age, no in zip(told["age_ms"], told["refused"], strict=True) if no]
    assert refused == sorted(refused) and refused[-1] > refused[0] + 3000
    assert run["facts"]["oldest_answer_ms"] >= refused[-1]


# -- 7. and exercises --------------------------------------------------------------------------------------


def test_needs_follow_little_s_law(book):
    lines = book.text("needs").splitlines()
    assert "500 threads" in lines[0] and "0 connections" in lines[0]
    assert "8 connections" in lines[2] and "50 connections" in lines[3] and "5,000 threads" in lines[4]


SOLUTIONS = {
    "exercise-hanging": (", 0)", ", 180)"),
    "exercise-bystander": ('"restclient"', '"webclient-mono"'),
    "exercise-pool": ('"transaction"', '"split"'),
    "exercise-timeout": ("timeout_ms=3000", "timeout_ms=500"),
}


@pytest.mark.parametrize("tag", SOLUTIONS)
def test_an_exercise_passes_solved_and_not_before(book, tag):
    book.solves(tag, *SOLUTIONS[tag])


def test_the_runtime_is_the_one_that_was_asked_for(book):
    asked = os.environ.get("WAITLAB_RUNTIME") or "embedded"
    assert {run["runtime"] for run in book.runs("five")} == {asked}
