"""circuit-breaker: a board of arrivals, asked for all the time, while the API behind it stops answering.

Each answer is looked up in the server's own list by the moment at which its work began.
"""

from __future__ import annotations

from typing import Any

from waitlab import limits
from waitlab import models_webclient as models
from waitlab.controls import Control, Settings
from waitlab.experiments import trains
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.load.client import LoadResult
from waitlab.load.plans import Plan, Stream, spaced
from waitlab.load.samples import OK, Sample
from waitlab.load.verdict import P99_NEEDS
from waitlab.runs import percentile

WORKERS = 200
STALE, FRESH, NONE = "stale", "fresh", "none"


def _measure(bench: Bench, s: Settings) -> Outcome:
    app, api = trains.servers(bench, cpus=s["cpus"], pool_size=WORKERS)
    names = ("breaker", "stale_cache", "timeout_ms", "wait_open_ms", "window", "probes")
    asked = {name: s[name] for name in names}
    app.put("/breaker", **{**asked, "timeout_ms": 3000})
    trains.warm(bench, app, app.url + trains.path("/board", api="ok"), app.url + "/fast")
    app.get("/board", api="ok")
    found = app.put("/breaker", **asked)
    in_force = app.settings() | {name: found[name] for name in names} | {"same_clock": app.same_clock}
    result = trains.loaded(bench, _plan(app.url, s), "requests")
    died = trains.died(app, api, result)
    facts = died or _facts(app.get("/breaker"), result)
    client, notes = _client(s, result)
    return Outcome(result.samples, facts, in_force, client, result.t0, result.partial, notes)


def _client(s: Settings, result: LoadResult) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The client's facts. A lateness that is small beside the time-out is told, and does not make the run void."""
    late = percentile(sorted(x.lag_ms for x in result.samples), 0.99) or 0.0
    return trains.excused(result.client, late, float(s["timeout_ms"]), "which is in the latencies")


def _plan(url: str, s: Settings) -> Plan:
    at = spaced(int(s["requests"]), float(s["interval_ms"]) / 1000)
    longest_s = 10 + 2 * float(s["timeout_ms"]) / 1000
    asked = trains.path("/board", api=s["api"], api_ms=s["api_ms"])
    return Plan((Stream("requests", url + asked, at, longest_s),), "steady")


def _facts(found: dict[str, Any], result: LoadResult) -> dict[str, Any]:
    answers = _answers(found["answers"], result.samples, result.t0)
    refused = sorted(ms for ms, no in zip(answers["ms"], answers["refused"], strict=True) if no)
    every = sorted(answers["ms"])
    ages = [age for age, source in zip(answers["age_ms"], answers["source"], strict=True) if source == STALE]
    states = _states(found["states"], result.t0)
    return {
        "states": states,
        "opens_at_ms": _first(states, "open"),
        "half_open_at_ms": _first(states, "half-open"),
        **{name: found[name] for name in ("stale_served", "refused_by_breaker", "timeouts", "failed")},
        "p99_once_open_ms": percentile(refused, 0.99) if len(refused) >= P99_NEEDS else None,
        "max_once_open_ms": refused[-1] if refused else None,
        "answer_ms_p99": percentile(every, 0.99) if len(every) >= P99_NEEDS else None,
        "answer_ms_p50": percentile(every, 0.5),
        "answer_ms_max": every[-1] if every else None,
        "oldest_answer_ms": max(ages, default=None),
        "answers": answers,
    }


def _states(told: list[dict[str, Any]], t0_s: float) -> list[dict[str, Any]]:
    """The breaker's states on the client's clock, ms after the start; the first was there before it."""
    at = [round(max(0.0, one["at_us"] / 1000 - t0_s * 1000), 1) for one in told]
    names = [str(one["state"]).lower().replace("_", "-") for one in told]
    return [{"at_ms": ms, "state": name} for ms, name in zip(at, names, strict=True)]


def _first(states: list[dict[str, Any]], name: str) -> float | None:
    """When the breaker first came into that state, ms after the start; None if it never did."""
    return next((float(one["at_ms"]) for one in states if one["state"] == name), None)


def _answers(told: dict[str, list[Any]], samples: tuple[Sample, ...], t0_s: float) -> dict[str, list[Any]]:
    """What each request was answered, in the order of sending: when, how long, from where, how old, by whom refused.

    Failures too: what has no work of the server's to look up by was refused where its class is `rejected`.
    """
    named = ("source", "refused", "age_ms")
    by_start = {us: tuple(told[name][i] for name in named) for i, us in enumerate(told["started_us"])}
    ordered = sorted((x for x in samples if x.done_s is not None), key=lambda x: x.intended_s)
    rows = [by_start.get(x.server_started_us, (NONE, x.cls == "rejected", None)) for x in ordered]
    return {
        "at_ms": [round((x.intended_s - t0_s) * 1000, 1) for x in ordered],
        "ms": [round(x.latency_ms, 2) for x in ordered],
        "source": [row[0] if x.cls == OK else NONE for row, x in zip(rows, ordered, strict=True)],
        "refused": [bool(row[1]) for row in rows],
        "age_ms": [row[2] for row in rows],
    }


def _model(s: Settings) -> dict[str, Any]:
    """When it opens and lets probes through, and what a request sent before and after waits, ms."""
    timeout, end = float(s["timeout_ms"]), float(s["requests"]) * float(s["interval_ms"])
    takes = {"ok": 0.0, "slow": min(float(s["api_ms"]), timeout), "down": timeout}[str(s["api"])]
    fails = s["api"] == "down" or (s["api"] == "slow" and float(s["api_ms"]) >= timeout)
    if s["breaker"] == "off" or not fails or int(s["requests"]) < int(s["window"]):
        line = {"x": [0.0, end / 1000], "y": [takes, takes]}
        return {"opens_at_ms": None, "half_open_at_ms": None, "answer_ms_max": takes, "curve": line}
    opens = models.opens_at_ms(int(s["window"]), float(s["interval_ms"]), timeout)
    line = {"x": [0.0, opens / 1000, opens / 1000, max(opens, end) / 1000], "y": [takes, takes, 0.0, 0.0]}
    half = models.half_open_at_ms(opens, float(s["wait_open_ms"]), float(s["interval_ms"]), int(s["requests"]))
    return {"opens_at_ms": opens, "half_open_at_ms": half, "answer_ms_max": takes, "curve": line}


def _line(s: Settings, o: Outcome) -> str:
    head = f"breaker {s['breaker']}, stale cache {s['stale_cache']}, API {s['api']}"
    if "states" not in o.facts:
        return f"{head}: {trains.tally(o.samples, 'requests')}"
    moves = [f"{one['state']} at {one['at_ms'] / 1000:.1f} s" for one in o.facts["states"][1:4]]
    told = f"; {', '.join(moves)}" if moves else ""
    stale = f"; {o.facts['stale_served']:,} stale" if o.facts["stale_served"] else ""
    slowest = o.facts["max_once_open_ms"]
    refused = f"; {o.facts['refused_by_breaker']:,} refused, slowest {slowest:,.0f} ms" if slowest is not None else ""
    return f"{head}: {trains.tally(o.samples, 'requests')}{told}{stale}{refused}"


def _limits(s: Settings) -> None:
    lasts = float(s["requests"]) * float(s["interval_ms"]) + float(s["timeout_ms"])
    limits.refuse_above("requests and interval_ms together", lasts, 120_000, "a run lasts, in ms,")
    waiting = float(s["timeout_ms"]) / float(s["interval_ms"])
    limits.refuse_above("timeout_ms / interval_ms", waiting, WORKERS, "the server has threads to wait with,")


ON_OFF = ("on", "off")
CONTROLS = (
    Control("breaker", str, "on", choices=ON_OFF, help="whether there is a circuit breaker"),
    Control("stale_cache", str, "on", choices=ON_OFF, help="whether the last good answer stands in for a missing one"),
    Control("api", str, "ok", choices=("ok", "slow", "down"), help="slow answers late, down never"),
    Control("api_ms", int, 3000, "ms", 10, 30_000, help="how long a slow API takes"),
    Control("timeout_ms", int, 3000, "ms", 50, 30_000, help="how long an answer is waited for"),
    Control("wait_open_ms", int, 1000, "ms", 100, 60_000, help="how long it stays open before it lets probes through"),
    Control("window", int, 10, "calls", 2, 100, help="the last calls that are judged"),
    Control("probes", int, 3, "calls", 1, 20, help="calls let through while half-open"),
    Control("requests", int, 250, low=10, high=2000, help="requests in all"),
    Control("interval_ms", int, 100, "ms", 10, 5000, help="time between two of them"),
    trains.CPUS,
)

EXPERIMENTS = (
    Experiment("circuit-breaker", "What does the user see when the API stops answering?", "lab_webclient", _measure,
               _line, CONTROLS, _model, _limits, ("requests",), "breaker"),
)  # fmt: skip
