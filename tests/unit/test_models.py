"""Models against cases computed by hand."""

import pytest
from waitlab import models
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
