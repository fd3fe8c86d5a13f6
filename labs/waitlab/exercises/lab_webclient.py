"""The WebClient lab's exercises: what they accept, and what they ask, point at and explain otherwise."""

from __future__ import annotations

from waitlab import models_webclient as models
from waitlab.exercises import Exercise, Finding, changed, is_about, not_yet, passed
from waitlab.runs import Run

CHAPTER = "lab_webclient"
PATIENCE_MS, FREE_MS = 700, 250


def _calls_hanging(answer: float) -> Finding:
    right = models.threads_needed(120, 1500)
    if is_about(answer, right):
        return passed(f"{right:.0f}: so many threads a blocking client holds, and a returned Mono none.")
    return not_yet(
        "how many calls come in the time that one of them takes?",
        "in 1.5 s come 1.5 times as many as in one second (Little's law).",
        f"120 x 1.5 = {right:.0f}.",
    )


def _free_bystander(run: Run) -> Finding:
    other = changed(run, users=60, pool_size=60, api_ms=1000, ramp_s=0)
    if other or "threads" not in run.facts or not run.series["user"].offered:
        return not_yet(f"this run had {other or 'no dump or no bystander'}; keep users, pool_size and api_ms.")
    slow, user, busy = run.series["slow"], run.series["user"], run.facts["exec_busy_peak"]
    if slow.ok < slow.offered or user.ok < user.offered:
        return not_yet("some calls were not answered; every one counts.")
    if busy >= 60:
        rows = [row for row in run.facts["threads"] if row["group"] == "http-nio-exec"]
        frame = max(rows, key=lambda row: row["count"])["top_frame"]
        return not_yet(
            f"{busy} of Tomcat's threads are busy. In which frame do they stand?",
            f"in {frame}: they wait for the answer. Who would have to wait in their place?",
            'nobody, if the Mono is returned (client="webclient-mono"); or threads that are not Tomcat\'s.',
        )
    p90 = user.p90_ms or 0.0
    also = f" So long a wait is not for the API (a free thread answers within {FREE_MS} ms): this machine is busy."
    told = f"{busy} of Tomcat's threads are busy, and the bystander's p90 is {p90:,.1f} ms."
    return passed(told + also * (p90 >= FREE_MS))


def _nobody_gives_up(run: Run) -> Finding:
    kept = {"users": 50, "jdbc_pool_size": 10, "connection_timeout_ms": 1500, "api_ms": 1000, "ramp_s": 0}
    other = changed(run, **kept)
    if other:
        return not_yet(f"this run had {other}; keep users, pool, time-out and API as they are.")
    slow, gone = run.series["slow"], run.facts["pool_timeouts"]
    if gone:
        return not_yet(
            f"{gone} gave up. What did the ten with a connection do for one second?",
            f"they held it while the API was asked: {run.facts['pool_active_p50']:.0f} of 10 taken, at the median.",
            'end the transaction before the call: boundary="split".',
        )
    if slow.ok < slow.offered:
        return not_yet(f"{slow.ok} of {slow.offered} boards; the pool turned nobody away. Look at the errors.")
    return passed(f"{slow.ok} boards, and no connection was held during the call.")


def _short_patience(run: Run) -> Finding:
    other = changed(run, api="down", breaker="on", stale_cache="on", requests=100, interval_ms=50)
    if other:
        return not_yet(f"this run had {other}; keep the silent API, the breaker, the cache and the load.")
    requests, slowest = run.series["requests"], run.series["requests"].max_ms or 0.0
    if requests.ok < requests.offered:
        return not_yet(f"{requests.ok} of {requests.offered} had an answer; every one counts.")
    if slowest > PATIENCE_MS:
        return not_yet(
            f"the slowest waited {slowest:,.0f} ms. What did it wait for?",
            "for an answer that does not come, until somebody gave up. Who decides when?",
            "the time-out: timeout_ms=500.",
        )
    if not any(one["state"] == "open" for one in run.facts["states"]):
        return not_yet("the breaker never opened in this run; let it see more failures than its window.")
    return passed(f"the slowest waited {slowest:,.0f} ms, and {run.facts['refused_by_breaker']} were answered at once.")


EXERCISES = (
    Exercise("calls-hanging", CHAPTER, float, _calls_hanging),
    Exercise("free-bystander", CHAPTER, Run, _free_bystander, "client-styles"),
    Exercise("nobody-gives-up", CHAPTER, Run, _nobody_gives_up, "connection-held"),
    Exercise("short-patience", CHAPTER, Run, _short_patience, "circuit-breaker"),
)
