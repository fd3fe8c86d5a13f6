"""four-stacks without a server: what is asked of which one, what is watched, what its line says, what is refused."""

from __future__ import annotations

import threading

import pytest
from fake_stacks import Lab
from waitlab.errors import ControlError
from waitlab.experiments import four_stacks, get, warming
from waitlab.experiments.base import Bench

EXPERIMENT = get("four-stacks")


@pytest.fixture(autouse=True)
def cold():
    warming.forget()


def measured(lab=None, **controls):
    lab = lab or Lab()
    settings = EXPERIMENT.settle({"rate_per_s": 700, **controls})
    bench = Bench(lab, lambda share, text: None, threading.Event())
    return lab, settings, EXPERIMENT.measure(bench, settings)


def asked_for(lab):
    return [plan.streams[0].url for plan in lab.plans if plan.streams[0].name == "requests"]


@pytest.mark.parametrize(
    ("stack", "url"),
    [
        ("mvc-platform", "http://127.0.0.1:1000/work?ms=20&downstream=postgres"),
        ("mvc-virtual", "http://127.0.0.1:2000/work?ms=20&downstream=postgres"),
        ("webflux-jdbc-offloaded", "http://127.0.0.1:1000/jdbc-isolated?s=0.02"),
        ("webflux-r2dbc", "http://127.0.0.1:1000/r2dbc?s=0.02"),
    ],
)
def test_every_stack_is_asked_the_same_query_at_its_own_door(stack, url):
    lab, _, _ = measured(stack=stack)
    assert asked_for(lab) == [url]


def test_every_stack_has_the_same_arrivals():
    plans = [measured(stack=stack)[0].plans[-1].streams[0].at_s for stack in four_stacks.STACKS]
    assert len(set(plans)) == 1 and len(plans[0]) == pytest.approx(3500, rel=0.1)
    lab, _, _ = measured(arrivals="constant")
    assert lab.plans[-1].streams[0].at_s[:3] == pytest.approx((0, 1 / 700, 2 / 700))


@pytest.mark.parametrize(("offload", "open_now", "asked"), [(20, 21, 0), (64, 21, 64), (200, 21, 100)])
def test_a_pool_that_grew_is_filled_by_as_many_callers_as_can_use_it(offload, open_now, asked):
    lab = Lab()
    lab.app("webflux").open = open_now
    measured(lab, stack="webflux-jdbc-offloaded", jdbc_pool_size=100, offload_pool_size=offload)
    bursts = [len(plan.streams[0].at_s) for plan in lab.plans if plan.kind == "burst"]
    assert bursts == ([asked] * four_stacks.FILLS if asked else [])


def test_each_server_gets_its_own_settings_and_all_its_pools():
    lab, _, _ = measured(stack="webflux-r2dbc", r2dbc_pool_size=30, cpus=1)
    assert lab.servers["webflux"].asked == {
        "cpus": 1, "offload_pool_size": 10, "jdbc_pool_size": 10, "r2dbc_pool_size": 30,
    }  # fmt: skip
    lab, _, _ = measured(stack="mvc-virtual", pool_size=7)
    assert lab.servers["mvc"].asked == {"cpus": 2, "pool_size": 7, "jdbc_pool_size": 10}


def test_another_server_gives_back_the_connections_that_this_one_needs():
    lab = Lab()
    lab.app("mvc", cpus=2, pool_size=200, jdbc_pool_size=200)
    measured(lab, stack="webflux-r2dbc", r2dbc_pool_size=100)
    assert lab.servers["mvc"].asked["jdbc_pool_size"] == 10
    lab.app("mvc", cpus=2, pool_size=200, jdbc_pool_size=150)
    measured(lab, stack="webflux-r2dbc", r2dbc_pool_size=100)
    assert lab.servers["mvc"].asked["jdbc_pool_size"] == 150


def test_the_queues_are_watched_from_before_the_load_until_after_it():
    lab, _, outcome = measured(stack="mvc-platform")
    calls = lab.servers["mvc"].calls
    assert [method for method, _ in calls[-2:]] == ["DELETE", "GET"]
    assert calls[-1] == ("GET", "/queues") and calls[-2][1].startswith("/queues?seconds=")
    assert outcome.facts["queues"]["workers"]["p50"] == 400
    assert outcome.facts["platform_threads_peak"] == 217


@pytest.mark.parametrize(
    ("stack", "waiting", "limit", "longest"),
    [
        ("mvc-platform", 190, "jdbc pool", "workers"),
        ("mvc-virtual", 590, "jdbc pool", "connections"),
        ("webflux-jdbc-offloaded", 10, "jdbc pool", "scheduler"),
        ("webflux-r2dbc", 0, "r2dbc pool", "connections"),
    ],
)
def test_the_limit_is_the_pool_of_connections_wherever_the_queue_is(stack, waiting, limit, longest):
    _, settings, outcome = measured(Lab(jdbc_waiting=waiting), stack=stack)
    known = {place: queue["p50"] for place, queue in outcome.facts["queues"].items() if queue}
    assert max(known, key=known.get) == longest
    assert outcome.facts["first_limit"] == limit
    assert EXPERIMENT.line(settings, outcome).endswith(f"first limit: {limit}")


def test_the_line_tells_counts_percentiles_and_throughput():
    _, settings, outcome = measured(stack="webflux-r2dbc", arrivals="constant")
    assert EXPERIMENT.line(settings, outcome).startswith(
        "WebFlux, R2DBC, 700 req/s: 3,500 of 3,500 ok, p50 857.1 ms, p99 857.1 ms, 598 req/s"
    )


def test_a_late_client_is_given_three_tries():
    lab, _, outcome = measured(Lab(late_s=1.0))
    assert len(asked_for(lab)) == 3
    assert outcome.client["saturated"] and outcome.notes == ("measured 3 times, since the client was late",)


def test_a_server_that_dies_is_told_and_not_asked_for_its_queues():
    lab, settings, outcome = measured(Lab(dies=True))
    assert outcome.facts["server_died_ms"] == pytest.approx(1000)
    assert lab.servers["mvc"].calls[-1][0] == "DELETE"
    assert "first limit: unknown" in EXPERIMENT.line(settings, outcome)


def test_where_server_and_client_do_not_share_a_clock_no_limit_is_named():
    lab = Lab()
    lab.app("mvc").same_clock = False
    _, settings, outcome = measured(lab)
    assert outcome.facts["first_limit"] == "unknown" and "queues" not in outcome.facts
    assert "700 req/s" in EXPERIMENT.line(settings, outcome)


def test_a_server_is_warmed_once_for_each_door_and_pool():
    lab = Lab()
    for pool in (10, 10, 20):
        measured(lab, stack="mvc-platform", jdbc_pool_size=pool)
    names = [plan.streams[0].name for plan in lab.plans]
    assert names == ["warm", "warm", "requests", "requests", "warm", "warm", "requests"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stack": "servlet"}, "mvc-platform, mvc-virtual"),
        ({"jdbc_pool_size": 250, "r2dbc_pool_size": 48}, "together ask for 298, more"),
        ({"rate_per_s": 5000, "duration_s": 60}, "a run sends at most 3333.33"),
        ({"rate_per_s": 5000, "query_ms": 10}, "the open connections allow at most 2800"),
        ({"rate_per_s": 300, "query_ms": 1000, "duration_s": 10}, "the longest wait allows at most 60"),
        ({"duration_s": 0.4}, "duration_s takes"),
        ({"query_ms": 0}, "query_ms takes"),
        ({"jdbc_pool_size": 251}, "jdbc_pool_size takes"),
        ({"rate_per_s": "many"}, "rate_per_s takes"),
        ({"arrivals": "burst"}, "poisson, constant"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(given, words):
    with pytest.raises(ControlError, match="Try: ") as refusal:
        EXPERIMENT.settle(given)
    assert words in refusal.value.text


def test_the_contract_s_defaults():
    usual = EXPERIMENT.settle({})
    assert {name: usual[name] for name in ("stack", "rate_per_s", "duration_s", "query_ms", "pool_size", "cpus")} == {
        "stack": "mvc-platform", "rate_per_s": 300, "duration_s": 5, "query_ms": 20, "pool_size": 200, "cpus": 2,
    }  # fmt: skip
    assert [usual[name] for name in ("jdbc_pool_size", "r2dbc_pool_size", "offload_pool_size")] == [10, 10, 20]
    assert EXPERIMENT.settle({"cpus": 4})["offload_pool_size"] == 40


@pytest.mark.parametrize(
    ("given", "knee", "limit"),
    [
        ({"rate_per_s": 300}, 500, "none"),
        ({"rate_per_s": 700}, 500, "jdbc pool"),
        ({"rate_per_s": 700, "pool_size": 5}, 250, "workers"),
        ({"rate_per_s": 1300, "stack": "webflux-jdbc-offloaded", "jdbc_pool_size": 100}, 1000, "offload pool"),
        ({"rate_per_s": 1300, "stack": "mvc-virtual", "jdbc_pool_size": 100, "pool_size": 1}, 5000, "none"),
        ({"rate_per_s": 700, "stack": "webflux-r2dbc", "jdbc_pool_size": 1}, 500, "r2dbc pool"),
    ],
)
def test_the_model_names_the_narrowest_pool(given, knee, limit):
    told = EXPERIMENT.model(EXPERIMENT.settle(given))
    assert (told["knee_per_s"], told["first_limit"]) == (knee, limit)


def test_the_model_grows_with_the_time_of_sending_above_the_knee_only():
    """700/s at a knee of 500 is 0.4 s more for each second: 2 s after five."""
    for rate, last in ((300, 20), (700, 2020)):
        told = EXPERIMENT.model(EXPERIMENT.settle({"rate_per_s": rate}))
        assert told["curve"] == {"x": [0, 5], "y": [20, pytest.approx(last)]}
