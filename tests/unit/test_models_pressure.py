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


def test_a_gate_bounds_the_total_and_demand_the_sum_of_the_stages():
    assert models.inside("none", FLOW, 64, 40, 20) is None
    assert models.inside("gate", FLOW, 64, 40, 20) == 40
    assert models.inside("request-n", FLOW, 64, 40, 20) == 64 + 9 + 60 + 1 + 10


def test_a_controlled_source_makes_what_comes_through_and_what_is_inside():
    assert models.produced("gate", FLOW, 40) == 3 * 500 + 40
    assert models.produced("none", FLOW, None) == models.produced("drop", FLOW, 144) == 3000
    assert models.produced("request-n", models.Flow(100, 2000, 500, 10, 3), 144) == 300


def test_only_a_source_that_cannot_be_slowed_loses_items():
    assert models.dropped("drop", FLOW, 144) == 3 * 500 - 144
    assert models.dropped("drop", models.Flow(100, 2000, 500, 10, 3), 144) == 0
    assert models.dropped("gate", FLOW, 40) == 0
