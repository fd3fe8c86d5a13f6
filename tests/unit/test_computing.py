"""cpu-bound without a JVM: medians of the rounds that count, and how much work is refused."""

import pytest
from crowds import COMPUTING, FakeLab
from waitlab import limits
from waitlab.errors import ControlError
from waitlab.experiments.measure import measure


@pytest.mark.parametrize(
    ("way", "wall_ms", "ratio"), [("cores", 103, 1), ("fixed", 113, 113 / 103), ("virtual", 108, 108 / 103)]
)
def test_computing_is_told_as_medians_of_the_rounds_that_count(way, wall_ms, ratio):
    found = measure(COMPUTING, COMPUTING.settle({"threads": way}), FakeLab())
    assert found.facts["wall_ms"] == wall_ms
    assert found.facts["ratio_to_cores"] == pytest.approx(ratio)
    assert len(found.facts["wall_ms_each"]) == 5
    assert found.facts["walls_by_way"] == {"cores": 103, "fixed": 113, "virtual": 108}


@pytest.mark.parametrize(
    ("cpus", "given"),
    [(2, {"tasks": 20_000, "rounds": 20}), (1, {"tasks": 20_000, "rounds": 6}), (1, {"tasks": 8000, "rounds": 20})],
)
def test_more_work_than_a_run_has_time_for_is_refused_with_both_numbers(monkeypatch, cpus, given):
    monkeypatch.setattr(limits, "cpus", lambda: cpus)
    with pytest.raises(ControlError, match=r"tasks and rounds together ask for \d+, more .* at most 120000") as refusal:
        COMPUTING.settle(given)
    assert "Try: smaller values of tasks and rounds" in refusal.value.text


def test_what_fits_into_two_minutes_is_not_refused(monkeypatch):
    monkeypatch.setattr(limits, "cpus", lambda: 2)
    assert COMPUTING.settle({"tasks": 20_000, "rounds": 5})["tasks"] == 20_000
    assert COMPUTING.settle({"rounds": 20})["rounds"] == 20
    monkeypatch.setattr(limits, "cpus", lambda: 8)
    assert COMPUTING.settle({"tasks": 20_000, "rounds": 20})["rounds"] == 20


def test_more_threads_than_a_jvm_may_have_are_refused(monkeypatch):
    monkeypatch.setattr(limits, "threads", lambda: 100)
    with pytest.raises(ControlError, match="one JVM may have at most 100"):
        COMPUTING.settle({})
