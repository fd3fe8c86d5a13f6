"""When a run is void, by samples made by hand."""

from __future__ import annotations

import pytest
from waitlab.load.samples import Sample
from waitlab.load.verdict import burst_verdict, lag_facts, median_ms, sent_freely, steady_verdict


def sample(latency_ms: float = 100.0, lag_ms: float | None = 0.0, cls: str = "ok") -> Sample:
    sent = None if lag_ms is None else lag_ms / 1000
    return Sample("s", 0, 0.0, sent, None, latency_ms / 1000, 200, cls, "", None, None)


def many(n: int, late: int = 0, lag_ms: float = 0.0, latency_ms: float = 100.0) -> list[Sample]:
    """`n` samples, `late` of them sent `lag_ms` late."""
    return [sample(latency_ms, lag_ms if i < late else 0.0) for i in range(n)]


@pytest.mark.parametrize(("lag_ms", "void"), [(9.9, False), (10.1, True)])
def test_steady_allows_5_ms_and_5_percent_of_the_median(lag_ms, void):
    """Median 100 ms: 5 + 5 = 10 ms are allowed."""
    assert steady_verdict(many(200, late=3, lag_ms=lag_ms), 0.2).void is void


def test_one_late_request_in_a_hundred_is_allowed():
    assert not steady_verdict(many(200, late=2, lag_ms=500), 0.2).void
    assert steady_verdict(many(200, late=3, lag_ms=500), 0.2).void


def test_few_requests_are_judged_by_the_p90_and_the_sentence_says_so():
    assert not steady_verdict(many(50, late=5, lag_ms=500), 0.2).void
    verdict = steady_verdict(many(50, late=6, lag_ms=500), 0.2)
    assert verdict.void
    assert "p90" in verdict.why
    assert "under 100" in verdict.why


@pytest.mark.parametrize(("share", "void"), [(0.80, False), (0.81, True)])
def test_steady_is_void_over_80_percent_of_a_core(share, void):
    verdict = steady_verdict(many(200), share)
    assert verdict.void is void
    assert bool(verdict.why) is void


def test_errors_do_not_lower_the_bar_and_unsent_ones_are_not_late():
    samples = [*many(200), *[sample(cls="unsent", lag_ms=None)] * 50]
    assert not steady_verdict(samples, 0.2).void
    assert steady_verdict([sample(cls="refused", lag_ms=None)], 0.2).void
    assert not steady_verdict([], 0.0).void


@pytest.mark.parametrize(("floor_ms", "void"), [(50.0, False), (50.1, True)])
def test_a_burst_is_void_where_its_floor_is_over_half(floor_ms, void):
    verdict = burst_verdict(many(10, latency_ms=100), many(10, latency_ms=floor_ms), 0)
    assert verdict.void is void
    assert ("50.1 ms" in verdict.why) is void


@pytest.mark.parametrize(("count", "says"), [(1, "once"), (3, "3 times")])
def test_a_burst_with_a_retransmitted_syn_is_void(count, says):
    verdict = burst_verdict(many(10), many(10, latency_ms=1), count)
    assert verdict.void
    assert says in verdict.why


def test_a_kernel_that_does_not_count_leaves_the_floor_to_decide():
    assert not burst_verdict(many(10), many(10, latency_ms=1), None).void


def test_a_burst_without_a_floor_is_void():
    assert burst_verdict(many(10), [sample(cls="refused")], 0).void


def test_lag_facts_are_nearest_rank_and_absent_where_undefined():
    assert lag_facts(many(100, late=1, lag_ms=30)) == {"lag_p99_ms": 0.0, "lag_p90_ms": 0.0}
    assert lag_facts(many(100, late=2, lag_ms=30)) == {"lag_p99_ms": 30.0, "lag_p90_ms": 0.0}
    assert lag_facts(many(99))["lag_p99_ms"] is None
    assert lag_facts([]) == {"lag_p99_ms": None, "lag_p90_ms": None}


def test_the_median_is_of_successes():
    samples = [sample(10), sample(20), sample(30), sample(1, cls="refused")]
    assert median_ms(samples) == 20
    assert median_ms([]) == 0


def test_waiting_for_ones_own_busy_connection_is_not_the_clients_lateness():
    held = [Sample("fast", i, i * 0.1, None, None, 2.0, 200, "ok", "", None, None) for i in range(4)]
    assert [s.index for s in sent_freely(held, connections=2)] == [0, 1]
    assert [s.index for s in sent_freely(held, connections=0)] == [0, 1, 2, 3]


def test_a_free_kept_connection_leaves_the_lateness_to_the_client():
    quick = [Sample("fast", i, i * 0.1, None, None, i * 0.1 + 0.01, 200, "ok", "", None, None) for i in range(4)]
    assert len(sent_freely(quick, connections=2)) == 4
