"""The bystander's facts, from samples made by hand: five sleepers on four loops, so one loop sleeps twice."""

import importlib

import pytest
from waitlab.experiments import get
from waitlab.experiments.base import Outcome
from waitlab.load.samples import Sample

facts_of = importlib.import_module("waitlab.experiments.lab_webflux")._bystander_facts
IN_FORCE = {"event_loops": 4, "accepting_thread": "loop-1"}


def answered(series, at_s, done_s, thread="loop-1"):
    return Sample(series, 0, at_s, at_s, None, done_s, 200, "ok", thread, None, None)


def test_whoever_waits_for_the_first_sleeper_is_held_also_where_another_sleeps_on():
    blockers = [answered("block", 0, 2.0) for _ in range(4)] + [answered("block", 0, 4.0)]
    strangers = [answered("fast", at, 2.0) for at in (0.3, 0.5, 0.7)] + [answered("fast", 2.5, 2.51)]
    told = facts_of([*blockers, *strangers], 0.0, get("bystander").settle({"k": 5}), IN_FORCE)
    assert told["held_share"] == 1
    assert told["all_blocked_ms"] == 4000
    assert told["first_fast_wait_ms"] == pytest.approx(1700)


def test_without_a_blocker_nobody_is_held():
    told = facts_of([answered("fast", 0.3, 0.31)], 0.0, get("bystander").settle({"k": 0}), IN_FORCE)
    assert told["held_share"] is None
    assert told["blocked_threads"] == []


@pytest.mark.parametrize(
    ("failed", "words"),
    [(0, "all blocked calls done at 2,000 ms"), (1, "3 of 4 blocked calls done at"), (4, "no blocked call was done")],
)
def test_the_line_counts_blocked_calls_that_failed(failed, words):
    late = Sample("block", 0, 0.0, 0.0, None, 9.0, None, "timeout", "", None, None)
    samples = (*(answered("block", 0, 2.0) for _ in range(4 - failed)), *[late] * failed)
    settings = get("bystander").settle({"k": 4})
    outcome = Outcome(samples, facts_of(samples, 0.0, settings, IN_FORCE))
    assert words in get("bystander").line(settings, outcome)
