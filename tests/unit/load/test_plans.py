"""Plans and send times, by hand-computed cases."""

from __future__ import annotations

import json

import pytest
from waitlab.load.plans import Plan, Stream, burst, poisson, spaced, steady


def test_send_times():
    assert burst(3) == (0.0, 0.0, 0.0)
    assert burst(2, at=0.5) == (0.5, 0.5)
    assert spaced(3, 0.2, start=0.3) == pytest.approx((0.3, 0.5, 0.7))
    assert steady(4, 1.0) == pytest.approx((0.0, 0.25, 0.5, 0.75))
    assert len(steady(500, 3)) == 1500


def test_poisson_is_seeded_ascending_and_at_its_rate():
    times = poisson(200, 20, seed=7)
    assert times == poisson(200, 20, seed=7) != poisson(200, 20, seed=8)
    assert list(times) == sorted(times)
    assert times[0] > 0
    assert times[-1] < 20
    assert len(times) == pytest.approx(4000, rel=0.1)


def test_offered_counts_all_streams():
    streams = (Stream("a", "http://x", burst(3)), Stream("b", "http://x", burst(4)))
    assert Plan(streams).offered == 7
    assert Plan((Stream("a", "http://x", ()),), "closed", users=2, requests=11).offered == 11


def test_a_plan_survives_json():
    plan = Plan((Stream("a", "http://x", burst(2), headers=(("k", "v"),)),), "steady")
    read = json.loads(json.dumps(plan.to_json()))
    assert read["kind"] == "steady"
    assert read["streams"][0]["at_s"] == [0.0, 0.0]
    assert read["streams"][0]["headers"] == [["k", "v"]]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Stream("a", "u", (1.0, 0.5)), "ascend"),
        (lambda: Stream("a", "u", (), connection="kept"), "at least one"),
        (lambda: Stream("a", "u", (), timeout_s=0), "positive"),
        (lambda: Plan((), "closed"), "users and requests"),
        (lambda: Plan((Stream("a", "u", (0.0,)),), "closed", users=1, requests=1), "no send times"),
        (lambda: Plan((), idle_connections=3), "address"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()
