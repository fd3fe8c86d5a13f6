"""Models against cases computed by hand."""

import pytest
from waitlab import models
from waitlab.errors import ControlError
from waitlab.experiments import get


@pytest.mark.parametrize(("cpus", "loops", "elastic"), [(1, 4, 10), (2, 4, 20), (4, 4, 40), (6, 6, 60)])
def test_loops_and_elastic_threads_follow_the_cpus(cpus, loops, elastic):
    assert models.event_loops(cpus) == loops
    assert models.bounded_elastic_size(cpus) == elastic


@pytest.mark.parametrize(
    ("tasks", "width", "ends"), [(0, 4, 0), (1, 4, 2000), (4, 4, 2000), (5, 4, 4000), (8, 2, 8000)]
)
def test_equal_tasks_end_in_waves(tasks, width, ends):
    assert models.makespan_ms(tasks, width, 2000) == ends


def test_fifty_requests_fall_evenly_on_four_loops():
    assert models.evenly(50, 4) == [13, 13, 12, 12]


@pytest.mark.parametrize(
    ("sleepers", "accepting", "share"),
    [(0, False, 0), (0, True, 0), (1, False, 0.25), (1, True, 1), (9, False, 1)],
)
def test_a_sleeping_acceptor_holds_everybody(sleepers, accepting, share):
    assert models.held_share(sleepers, 4, accepting_loop_sleeps=accepting) == share


def test_a_waiter_waits_for_what_is_left():
    assert models.wait_for_sleeper_ms(300, 2000) == 1700
    assert models.wait_for_sleeper_ms(2100, 2000) == 0


def model(**controls):
    experiment = get("bystander")
    return experiment.model(experiment.settle(controls))


def test_four_sleepers_hold_the_first_bystander_for_the_rest_of_their_sleep():
    assert model(k=4)["first_fast_wait_ms"] == 1700
    assert model(k=4)["held_share"] == 1


@pytest.mark.parametrize(("k", "waits"), [(0, 0), (3, 0), (4, 1700), (5, 1700), (7, 1700), (8, 3700)])
def test_the_first_bystander_waits_at_least_until_the_first_loop_is_free_for_good(k, waits):
    assert model(k=k)["first_fast_wait_ms"] == waits


def test_offloading_isolates_but_is_no_capacity():
    isolated = model(endpoint="jdbc-isolated", k=8, offload_pool_size=2)
    assert isolated["all_blocked_ms"] == 8000
    assert isolated["held_share"] == isolated["first_fast_wait_ms"] == 0


@pytest.mark.parametrize(
    ("controls", "ends"),
    [
        ({"endpoint": "jdbc-isolated", "k": 20}, 4000),
        ({"endpoint": "jdbc-isolated", "k": 20, "jdbc_pool_size": 30}, 2000),
        ({"endpoint": "jdbc-isolated", "k": 21, "jdbc_pool_size": 30}, 4000),
        ({"endpoint": "r2dbc", "k": 11}, 4000),
        ({"endpoint": "sleep", "k": 5}, 4000),
    ],
)
def test_the_narrowest_limit_decides(controls, ends):
    assert model(**controls)["all_blocked_ms"] == ends


# -- a thread for every request --------------------------------------------------------------------------------------


def per_request(**controls):
    experiment = get("thread-per-request")
    return experiment.model(experiment.settle(controls))


def test_the_ceiling_is_the_pool_over_the_time_a_thread_is_held():
    assert models.ceiling_per_s(50, 100) == 500
    assert models.ceiling_per_s(50, 1000) == 50
    assert models.ceiling_per_s(50, 0) is None


def test_a_burst_is_served_in_stairs():
    assert [models.burst_latency_ms(i, 2, 100) for i in range(1, 6)] == [100, 100, 200, 200, 300]


@pytest.mark.parametrize(
    ("pool", "waves", "p50", "p99", "wall"),
    [(50, 10, 500, 1000, 1000), (200, 3, 200, 300, 300), (1000, 1, 100, 100, 100), (1, 500, 25_000, 49_500, 50_000)],
)
def test_five_hundred_at_once(pool, waves, p50, p99, wall):
    told = per_request(pool_size=pool)
    assert (told["waves"], told["p50_ms"], told["p99_ms"], told["wall_ms"]) == (waves, p50, p99, wall)


def test_virtual_threads_have_no_ceiling_of_their_own():
    told = per_request(threads="virtual")
    assert told["ceiling_per_s"] is None
    assert told["wall_ms"] == 100


@pytest.mark.parametrize("threads", ["platform", "virtual"])
def test_behind_the_threads_stand_the_connections(threads):
    assert per_request(pool_size=200, downstream="postgres", threads=threads, users=200)["ceiling_per_s"] == 100


def test_calls_one_after_another_add_up_and_calls_at_once_do_not():
    assert per_request(threads="virtual", calls=3)["wall_ms"] == 300
    assert per_request(threads="virtual", calls=3, in_parallel=True)["wall_ms"] == 100


def test_above_the_ceiling_the_wait_grows_with_time():
    assert models.steady_latency_ms(5, 400, 500, 100) == 100
    assert models.steady_latency_ms(5, 550, 500, 100) == pytest.approx(600)


def test_threads_for_waiting_work():
    assert models.threads_for(2, 1.0, wait_ms=90, compute_ms=10) == 20
    assert models.threads_for(2, 1.0, wait_ms=0, compute_ms=10) == 2


@pytest.mark.parametrize(
    ("controls", "says"),
    [
        ({"server": "plain", "downstream": "postgres"}, "no database"),
        ({"model": "connection"}, "server=plain"),
        ({"users": 5000, "pool_size": 1, "service_ms": 10_000}, "600000"),
    ],
)
def test_values_that_do_not_go_together_are_refused(controls, says):
    with pytest.raises(ControlError, match=says):
        get("thread-per-request").settle(controls)
