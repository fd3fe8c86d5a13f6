"""Theory of the chain, against cases computed by hand: 1,000 a second into 2,000 into 500, for three seconds."""

import pytest
from waitlab import models_pressure as models

FLOW = models.Flow(source=1000, transform=2000, sink=500, batch=10, lasts_s=3)


def test_without_control_the_slow_sink_s_queue_grows_and_drains():
    lines = models.uncontrolled(FLOW)
    assert lines["sink"] == {"x": [0, 3, 6], "y": [0, 1500, 0]}
    assert max(lines["transform"]["y"]) == 0


def test_two_slow_stages_share_the_queue():
    """1,000 into 800 into 500: 200 a second before transform, which empties at 3.75 s; 300 a second before the sink."""
    lines = models.uncontrolled(models.Flow(1000, 800, 500, 10, 3))
    assert lines["transform"] == {"x": [0, 3, 3.75, 6], "y": [0, 600, 0, 0]}
    assert lines["sink"] == {"x": [0, 3.75, 6], "y": [0, 1125, 0]}


def test_a_fast_chain_has_no_queue():
    lines = models.uncontrolled(models.Flow(100, 2000, 500, 10, 3))
    assert max(lines["sink"]["y"] + lines["transform"]["y"]) == 0


@pytest.mark.parametrize(
    ("control", "bounds"),
    [
        ("none", {"transform": None, "batch": 9, "sink": None}),
        ("gate", {"transform": 40, "batch": 9, "sink": 40}),
        ("request-n", {"transform": 64, "batch": 9, "sink": 60}),
        ("drop", {"door": 21, "transform": 64, "batch": 9, "sink": 60}),
    ],
)
def test_what_bounds_each_queue(control, bounds):
    assert models.at_most(control, FLOW, 64, 40, 20) == bounds


def test_a_sink_asks_for_one_batch_at_least():
    assert models.at_most("request-n", FLOW, 4, 40, 20)["sink"] == 10


def test_a_gate_bounds_the_total_and_demand_the_sum_of_what_was_asked_for():
    assert models.inside("none", FLOW, 64, 40, 20) is None
    assert models.inside("gate", FLOW, 64, 40, 20) == 40
    assert models.inside("request-n", FLOW, 64, 40, 20) == 64 + 60 + 1
    assert models.inside("drop", FLOW, 64, 40, 20) == 64 + 60 + 1 + 21


def test_the_slowest_stage_decides_what_comes_through():
    for control in ("none", "gate", "request-n", "drop"):
        assert models.through(control, FLOW, 64, 40) == 500
        assert models.through(control, models.Flow(1000, 300, 500, 10, 3), 64, 40) == 300


def test_a_gate_for_one_batch_makes_and_sinks_by_turns():
    """Ten in 20 ms at the sink, then ten in 10 ms at the source, and the last of them 0.5 ms in transform."""
    assert models.through("gate", FLOW, 64, 10) == pytest.approx(10 / 0.0305)
    assert models.through("gate", FLOW, 64, 15) == pytest.approx(10 / 0.0255)
    assert models.through("gate", FLOW, 64, 20) == 500


def test_demand_that_leaves_nothing_to_do_makes_the_sink_wait():
    """One at a time: 2 ms at the sink, then 0.5 ms in transform, which the source has served meanwhile."""
    single = models.Flow(1000, 2000, 500, 1, 3)
    assert models.through("request-n", single, 1, 0) == pytest.approx(1 / 0.0025)
    # two batches of three at a time: six in 6 / 350 s, the last batch in 3 / 501 s more
    odd = models.Flow(997, 350, 501, 3, 1)
    assert models.through("request-n", odd, 7, 0) == pytest.approx(6 / (6 / 350 + 3 / 501))
    assert models.through("request-n", odd, 12, 0) == 350


def test_asking_for_one_makes_source_and_transform_take_turns():
    assert models.arriving("request-n", FLOW, 1) == pytest.approx(1 / 0.0015)
    assert models.arriving("request-n", FLOW, 4) == models.arriving("none", FLOW, 1) == 1000


def test_a_controlled_source_makes_what_comes_through_and_what_is_inside():
    assert models.produced("gate", FLOW, 64, 40, 20) == 3 * 500 + 40
    assert models.produced("request-n", FLOW, 64, 40, 20) == 3 * 500 + 125
    assert models.produced("none", FLOW, 64, 40, 20) == models.produced("drop", FLOW, 64, 40, 20) == 3000
    assert models.produced("request-n", models.Flow(100, 2000, 500, 10, 3), 64, 40, 20) == 300


def test_only_a_source_that_cannot_be_slowed_loses_items():
    assert models.passed("drop", FLOW, 64, 40, 20) == 3 * 500 + 146
    assert models.passed("drop", models.Flow(100, 2000, 500, 10, 3), 64, 40, 20) == 300
    for control in ("none", "gate", "request-n"):
        assert models.passed(control, FLOW, 64, 40, 20) == models.produced(control, FLOW, 64, 40, 20)


def test_the_end_is_when_the_last_batch_has_sunk():
    """The first ten take 10 ms; 3,000 at 500 a second; a batch of a thousand is there after the source's second."""
    assert models.wall_s("none", FLOW, 64, 40, 20) == pytest.approx(6.01)
    assert models.wall_s("none", models.Flow(1000, 2000, 500, 1000, 1), 64, 40, 20) == pytest.approx(3)
    assert models.wall_s("none", models.Flow(100, 2000, 500, 10, 3), 64, 40, 20) == pytest.approx(3.02)
    assert models.wall_s("gate", FLOW, 64, 10, 20) == pytest.approx(3 + 10 / (10 / 0.0305))
