"""Chapter 9's exercises: what they accept, and what they ask, point at and explain otherwise."""

from __future__ import annotations

from waitlab import models
from waitlab.exercises import Exercise, Finding, changed, is_about, not_yet, passed
from waitlab.runs import Run

CHAPTER = "09_thread_per_request"
P99_UNDER_MS = 350
WIDEST_POOL = 250
QUERIES_WITHIN_MS = 1200


def _median_of_a_crowd(answer: float) -> Finding:
    right = models.burst_latency_ms(600, 80, 50)
    if is_about(answer, right):
        return passed(f"{right:,.0f} ms: the 600th user is in the eighth wave.")
    return not_yet(
        "which of the 1,200 is the median user, and in which wave is that one served?",
        "the 600th is the median, and each wave serves eighty.",
        f"⌈600 / 80⌉ = 8 waves of 50 ms: {right:,.0f} ms.",
    )


def _smallest_pool(run: Run) -> Finding:
    kept = {"users": 500, "service_ms": 100, "threads": "platform", "downstream": "sleep", "arrivals": "burst"}
    other = changed(run, **kept)
    if other:
        return not_yet(f"this run had {other}; keep 500 users at once, 100 ms and platform threads.")
    requests, pool = run.series["requests"], int(run.settings["pool_size"])
    if requests.p99_ms is None or requests.ok < requests.offered:
        return not_yet(f"{requests.ok} of {requests.offered} users were answered; every one counts.")
    if requests.p99_ms >= P99_UNDER_MS:
        return _too_slow(requests.p99_ms, pool)
    if pool > WIDEST_POOL:
        made = f"{pool} threads make {models.waves(500, pool)}"
        return not_yet(f"p99 {requests.p99_ms:,.0f} ms. Would three waves do, where {made}?")
    return passed(f"p99 {requests.p99_ms:,.0f} ms with {pool} threads: the 495th user is in wave {_wave(pool)}.")


def _wave(pool: int) -> int:
    """The wave of the 495th of 500 users, whose latency is the p99."""
    return models.waves(495, pool)


def _too_slow(p99_ms: float, pool: int) -> Finding:
    """What to say of a p99 that is not under the limit: theory's doing, or the floor's."""
    theory = models.burst_latency_ms(495, pool, 100)
    if theory < P99_UNDER_MS:
        return not_yet(
            f"p99 {p99_ms:,.0f} ms, {theory:,.0f} by theory; the rest is this machine's floor. Would one wave less do?",
            f"theory leaves {P99_UNDER_MS - theory:,.0f} ms for the floor: the machine is busy. Run it again.",
            f"with {WIDEST_POOL} threads two waves do, and the floor may take 150 ms.",
        )
    return not_yet(
        f"p99 {p99_ms:,.0f} ms in {models.waves(500, pool)} waves. How many waves fit into {P99_UNDER_MS} ms?",
        "three fit, and leave 50 ms for the floor; the 495th user must be in the third.",
        "pool ≥ 495 / 3 = 165. If that is not enough here, the machine is busy: a few threads more, or again.",
    )


def _two_hundred_queries(run: Run) -> Finding:
    other = changed(run, downstream="postgres", users=200, service_ms=100, calls=1, arrivals="burst")
    if other:
        return not_yet(f"this run had {other}; keep 200 users at once that ask PostgreSQL for 100 ms.")
    took, connections = float(run.facts["wall_ms"]), int(run.in_force["jdbc_pool_size"])
    requests, workers = run.series["requests"], int(run.facts["threads_that_served"])
    width = max(1, min(workers, connections))
    if requests.ok < requests.offered:
        return not_yet(f"{requests.ok} of {requests.offered} users were answered; every one counts.")
    if took <= QUERIES_WITHIN_MS:
        return passed(f"all done at {took:,.0f} ms, in {models.waves(200, width)} waves of {width}.")
    if workers < connections:
        return not_yet(f"{workers} threads cannot keep {connections} connections busy; leave pool_size at 200.")
    return not_yet(
        f"{workers} threads served, and it took {took:,.0f} ms. What did each of them wait for?",
        f"for one of {connections} connections: two hundred queries made {models.waves(200, width)} waves.",
        "ten waves of 100 ms fit, so twenty connections: jdbc_pool_size=20.",
    )


EXERCISES = (
    Exercise("median-of-a-crowd", CHAPTER, float, _median_of_a_crowd),
    Exercise("smallest-pool", CHAPTER, Run, _smallest_pool, "thread-per-request"),
    Exercise("two-hundred-queries", CHAPTER, Run, _two_hundred_queries, "thread-per-request"),
)
