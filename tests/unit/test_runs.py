"""Runs: percentiles by nearest rank, classes that add up, lines, records."""

import json

import pytest
from waitlab.load.samples import Sample
from waitlab.runs import Run, Series, from_record, percentile


def sample(index, took_ms, cls="ok", series="fast", thread="loop-1"):
    start = 100 + index * 0.01
    return Sample(series, index, start, start + 0.001, None, start + took_ms / 1000, 200, cls, thread, None, None)


def run_of(*samples, **fields):
    kept = {
        "experiment": "bystander",
        "settings": {"k": 4},
        "in_force": {},
        "runtime": "embedded",
        "live": True,
        "machine": {},
        "commit": "c",
        "started_at": "2026-01-02T03:04:05+00:00",
        "duration_s": 1.0,
        "facts": {"x": 1.23456},
        "model": {},
        "client": {},
        "line": "a line",
        "t0_s": 100.0,
    }
    names = {s.series for s in samples}
    series = {name: Series(name, tuple(s for s in samples if s.series == name)) for name in names}
    return Run(**{**kept, **fields}, series=series)


@pytest.mark.parametrize(
    ("share", "rank"), [(0.5, 5), (0.9, 9), (0.91, 10), (0.99, 10), (1.0, 10), (0.0, 1), (0.01, 1)]
)
def test_percentiles_are_nearest_rank(share, rank):
    assert percentile([float(n) for n in range(1, 11)], share) == rank


def test_no_values_have_no_percentile():
    assert percentile([], 0.5) is None


def test_a_p99_needs_a_hundred_successes():
    ninety_nine = Series("fast", tuple(sample(i, i) for i in range(1, 100)))
    hundred = Series("fast", tuple(sample(i, i) for i in range(1, 101)))
    assert ninety_nine.p99_ms is None
    assert hundred.p99_ms == pytest.approx(99)


def test_a_failure_is_counted_and_never_improves_a_percentile():
    series = Series("fast", (sample(1, 100), sample(2, 1, "reset"), sample(3, 1, "unsent")))
    assert series.offered == series.ok + sum(series.errors.values()) == 3
    assert series.errors == {"reset": 1, "unsent": 1}
    assert series.p50_ms == series.max_ms == pytest.approx(100)


def test_latency_counts_from_the_intended_time():
    late = Sample("fast", 0, 10.0, 10.5, None, 11.0, 200, "ok", "", None, None)
    assert late.latency_ms == 1000
    assert late.lag_ms == 500


def test_the_result_is_json_and_has_the_contracts_fields():
    result = run_of(sample(1, 20)).to_dict()
    json.dumps(result)
    fields = "experiment settings in_force runtime live machine commit started_at duration_s series facts model"
    for name in [*fields.split(), "client", "line"]:
        assert name in result
    assert set(result["series"]["fast"]) == {
        "offered",
        "ok",
        "errors",
        "p50_ms",
        "p90_ms",
        "p99_ms",
        "max_ms",
        "throughput_per_s",
        "threads",
    }


def test_a_record_comes_back_as_a_run_that_is_not_live():
    kept = run_of(sample(1, 20), sample(2, 30, series="block"))
    back = from_record(json.loads(json.dumps(kept.to_record())))
    assert not back.live
    assert back.series == dict(kept.series)
    assert back.line == "a line [recorded 2026-01-02]"


def test_the_table_has_a_row_a_request_in_order():
    rows = run_of(sample(2, 30), sample(1, 20, "timeout")).table().splitlines()
    assert [row.split()[0] for row in rows] == ["series", "fast", "fast"]
    assert "timeout" in rows[1]
