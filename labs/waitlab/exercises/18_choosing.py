"""Chapter 18's exercises: what they accept, and what they ask, point at and explain otherwise."""

from __future__ import annotations

from waitlab import models, models_stacks
from waitlab.exercises import Exercise, Finding, changed, is_about, not_yet, passed
from waitlab.runs import Run

CHAPTER = "18_choosing"
FASTEST_SHARE = 0.6
SPARE_SHARE = 1.6
HEAP_MB = 20
MEDIAN_MS = 40


# -- how wide, how many --------------------------------------------------------------------------------------------


def _gate_width(answer: float) -> Finding:
    right = models.in_flight(400, 250)
    if is_about(answer, right, 0.02):
        return passed(f"{right:,.0f}: the last one let in is done after 250 ms.")
    return not_yet(
        f"with {answer:,.0f} inside, how long does the last one wait, at 400 a second?",
        f"{answer:,.0f} / 400 a second are {answer / 0.4:,.0f} ms, and the callers have 250.",
        f"gate = ceiling × patience = 400/s × 0.25 s = {right:,.0f}.",
    )


def _pool_that_does(run: Run) -> Finding:
    other = changed(run, threads="fixed", gate=0, downstream="semaphore", capacity=50, hold_ms=20)
    if other:
        return not_yet(f"this run had {other}; keep the pool of platform threads and the downstream as it is.")
    pool, rate = int(run.settings["pool_size"]), float(run.facts["throughput_per_s"])
    places, hold_ms = int(run.settings["capacity"]), float(run.settings["hold_ms"])
    ceiling = places / hold_ms * 1000
    if pool < places:
        return not_yet(
            f"{rate:,.0f} requests/s, and the downstream bears {ceiling:,.0f}. How many of its places were taken?",
            f"{pool} threads make {pool} calls at once, so at most {pool / hold_ms * 1000:,.0f} a second.",
            f"as many threads as places: {places}.",
        )
    if pool > SPARE_SHARE * places:
        return not_yet(f"{rate:,.0f} requests/s with {pool} threads. What did {pool - places} of them do meanwhile?")
    if rate < FASTEST_SHARE * ceiling:
        return not_yet(f"{rate:,.0f} of {ceiling:,.0f} requests/s: this machine is busy. Run it again.")
    return passed(f"{rate:,.0f} requests/s with {pool} threads; the downstream has {places} places.")


# -- what is held, and where ---------------------------------------------------------------------------------------


def _small_heap(run: Run) -> Finding:
    other = changed(run, threads="virtual", requests=5000, payload_kb=20, downstream="semaphore")
    if other:
        return not_yet(f"this run had {other}; keep virtual threads, and 5,000 requests of 20 kB.")
    served, alive = int(run.facts["served"]), float(run.facts["heap_peak_mb"])
    if served < int(run.settings["requests"]):
        return not_yet(f"{served:,} of 5,000 were served. Which way of being full loses none?")
    if alive < HEAP_MB:
        return passed(f"{alive:,.1f} MB alive, with {run.facts['in_flight_peak']:,} in flight; all were served.")
    return not_yet(*_who_holds(run, alive))


def _who_holds(run: Run, alive: float) -> tuple[str, ...]:
    """Hints by who had the payload while it waited."""
    live = int(run.facts["in_flight_peak"])
    if run.settings["gate"] and run.settings["gate_at"] == "inside":
        return (
            f"{alive:,.0f} MB: the gate of {run.settings['gate']} stood inside, and {live:,} threads were live.",
            "whoever waits at this gate has a thread and its payload already.",
            'gate_at="door": the submitter waits, before it takes anything.',
        )
    return (
        f"{alive:,.0f} MB alive, and {live:,} in flight. How many may be, at 20 kB each?",
        f"{HEAP_MB} MB / 20 kB are about 1,000, and the virtual threads want theirs too.",
        "the downstream serves fifty at a time: gate=200 is plenty.",
    )


def _past_the_knee(run: Run) -> Finding:
    other = changed(run, rate_per_s=700, query_ms=20)
    if other:
        return not_yet(f"this run had {other}; keep 700 requests a second of 20 ms.")
    requests, limit = run.series["requests"], str(run.facts["first_limit"])
    if requests.ok < requests.offered or requests.p50_ms is None:
        return not_yet(f"{requests.ok:,} of {requests.offered:,} requests were answered; every one counts.")
    if requests.p50_ms < MEDIAN_MS:
        return passed(f"p50 {requests.p50_ms:,.1f} ms; the first limit that was hit: {limit}.")
    if limit == "none":
        return not_yet(f"p50 {requests.p50_ms:,.0f} ms, and no limit was hit: this machine is busy. Run it again.")
    return not_yet(
        f"p50 {requests.p50_ms:,.0f} ms; the first limit was the {limit}. How many of its places does 700/s take?",
        f"Little's law: 700/s × 20 ms = {models.in_flight(700, 20):,.0f} at once.",
        f"{models_stacks.CONNECTIONS[str(run.settings['stack'])]}=20 has room to spare.",
    )


EXERCISES = (
    Exercise("gate-width", CHAPTER, float, _gate_width),
    Exercise("pool-that-does", CHAPTER, Run, _pool_that_does, "admission"),
    Exercise("small-heap", CHAPTER, Run, _small_heap, "admission"),
    Exercise("past-the-knee", CHAPTER, Run, _past_the_knee, "four-stacks"),
)
