"""Chapter 9's experiment: a thread for every request, on a bare server and on Tomcat, platform and virtual."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from statistics import median
from typing import Any
from urllib.parse import urlencode, urlsplit

from waitlab import limits, models
from waitlab.controls import Control, Settings
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.experiments.serving import died_ms
from waitlab.load.client import LoadResult
from waitlab.load.plans import Plan, Stream, burst, steady
from waitlab.load.samples import OK, Sample
from waitlab.load.verdict import burst_verdict, median_ms
from waitlab.runs import percentile
from waitlab.services import App

WARM_BURSTS = 2
SERVERS = {"tomcat": "mvc", "plain": "plain"}


def _measure(bench: Bench, s: Settings) -> Outcome:
    app = _server(bench, s)
    in_force = app.settings() | {"same_clock": app.same_clock}
    door = _door(app, s, in_force)
    _warm(bench, door, s)
    floor = bench.unmeasured(Plan((_stream("floor", door + _path(s, work=False), s, burst(int(s["users"]))),), "burst"))
    app.delete("/threads/peak")
    result = bench.load(_plan(door, s))
    died = died_ms(app, result)
    peaks = {} if died else app.get("/threads/peak")
    facts = _facts(result, s) | peaks | died
    samples = result.samples + floor.samples
    return Outcome(samples, facts, in_force, _client(result, floor, s), result.t0, result.partial)


def _server(bench: Bench, s: Settings) -> App:
    if s["server"] == "tomcat":
        return bench.app("mvc", pool_size=s["pool_size"], jdbc_pool_size=s["jdbc_pool_size"])
    return bench.app("plain", pool_size=s["pool_size"], model=s["model"])


def _door(app: App, s: Settings, in_force: dict[str, Any]) -> str:
    """The address behind which the asked kind of thread works: both kinds serve in one JVM, on two ports."""
    if s["threads"] == "platform":
        return app.url
    return f"http://{urlsplit(app.url).hostname}:{in_force['virtual_port']}"


def _path(s: Settings, *, work: bool) -> str:
    if not work:
        return "/work?ms=0"
    named = {"ms": s["service_ms"], "cpu_ms": s["cpu_ms"], "calls": s["calls"], "downstream": s["downstream"]}
    return "/work?" + urlencode({**named, "parallel": str(s["in_parallel"]).lower()})


def _stream(name: str, url: str, s: Settings, at_s: tuple[float, ...]) -> Stream:
    longest_s = 10 + 3 * float(_model(s)["wall_ms"]) / 1000
    return Stream(name, url, at_s, min(longest_s, 600.0))


def _plan(door: str, s: Settings) -> Plan:
    burst_of = burst(int(s["users"]))
    at_s = steady(float(s["rate_per_s"]), float(s["duration_s"])) if s["arrivals"] == "steady" else burst_of
    stream = _stream("requests", door + _path(s, work=True), s, at_s)
    idle = int(s["idle_connections"])
    return Plan((stream,), "steady" if s["arrivals"] == "steady" else "burst", idle_connections=idle, idle_url=door)


def _warm(bench: Bench, door: str, s: Settings) -> None:
    """Two unmeasured bursts, short ones; enough to compile what a request runs and to open the pool's connections."""
    path = _path({**s, "service_ms": min(float(s["service_ms"]), 20), "calls": 1, "cpu_ms": 0}, work=True)
    for _ in range(WARM_BURSTS):
        bench.progress(0.0, "warming up")
        bench.unmeasured(Plan((_stream("warm", door + path, s, burst(min(int(s["users"]), 500))),), "burst"))


def _facts(result: LoadResult, s: Settings) -> dict[str, Any]:
    done = [x for x in result.samples if x.cls == OK]
    wall_ms = (max((x.done_s or result.t0 for x in done), default=result.t0) - result.t0) * 1000
    workers = len({x.thread for x in done})
    facts = {
        "wall_ms": wall_ms,
        "throughput_per_s": len(done) / wall_ms * 1000 if wall_ms else None,
        "ceiling_per_s": _ceiling(s),
        "waves": ceil(len(done) / workers) if workers else None,
        "threads_that_served": workers,
    }
    return facts | ({"p50_ms_by_second": by_second(done, result.t0)} if s["arrivals"] == "steady" else {})


def by_second(done: Iterable[Sample], t0: float) -> list[float]:
    """The median latency of the requests sent in each second, ms."""
    seconds: dict[int, list[float]] = {}
    for x in done:
        seconds.setdefault(int(x.intended_s - t0), []).append(x.latency_ms)
    return [median(seconds[second]) for second in sorted(seconds)]


def _client(result: LoadResult, floor: LoadResult, s: Settings) -> dict[str, Any]:
    """The client's facts; a burst is judged by the same burst without work, unless that is what was asked for."""
    facts = result.client | {"floor_p50_ms": median_ms(floor.samples)}
    if s["arrivals"] == "steady":
        return facts
    if _held_ms(s) == 0:
        return facts | {"saturated": bool(facts["retransmits"])}
    verdict = burst_verdict(result.samples, floor.samples, facts["retransmits"])
    return facts | {"saturated": verdict.void, "why": verdict.why}


# -- the model ---------------------------------------------------------------------------------------------------


def _held_ms(s: Settings) -> float:
    """How long a request holds its thread, ms: its own computing, and its calls one after another or all at once."""
    return float(s["cpu_ms"]) + float(s["service_ms"]) * (1 if s["in_parallel"] else int(s["calls"]))


def _widths(s: Settings) -> dict[str, tuple[float, float]]:
    """What may serve at a time, and for how long each is held, ms: threads, connections, processors."""
    threads = float(s["pool_size"]) if s["threads"] == "platform" else float("inf")
    found = {"threads": (threads, _held_ms(s))}
    if s["downstream"] == "postgres":
        found["connections"] = (float(s["jdbc_pool_size"]), float(s["service_ms"]) * int(s["calls"]))
    if s["cpu_ms"]:
        found["processors"] = (float(limits.cpus()), float(s["cpu_ms"]))
    return found


def _ceiling(s: Settings) -> float | None:
    """The lowest of the ceilings, requests/s; None where nothing limits."""
    known = [width / held * 1000 for width, held in _widths(s).values() if held and width != float("inf")]
    return min(known, default=None)


def _model(s: Settings) -> dict[str, Any]:
    users, held, ceiling = int(s["users"]), _held_ms(s), _ceiling(s)
    if s["arrivals"] == "steady":
        return _steady_model(s, ceiling)
    width = max(1, round(ceiling * held / 1000)) if ceiling and held else users
    latencies = models.burst_latencies_ms(users, min(width, users), held)
    wall = latencies[-1]
    return {
        "waves": models.waves(users, min(width, users)),
        "wall_ms": wall,
        "p50_ms": percentile(latencies, 0.5),
        "p99_ms": percentile(latencies, 0.99),
        "ceiling_per_s": ceiling,
        "throughput_per_s": users / wall * 1000 if wall else None,
        "workers_peak": min(int(s["pool_size"]), users) if s["threads"] == "platform" else 0,
        "stairs": latencies,
        "curves": _curves(s),
    }


def _steady_model(s: Settings, ceiling: float | None) -> dict[str, Any]:
    rate, held, seconds = float(s["rate_per_s"]), _held_ms(s), float(s["duration_s"])
    at = [seconds * step / 60 for step in range(61)]
    y = [models.steady_latency_ms(t, rate, ceiling, held) for t in at]
    return {
        "ceiling_per_s": ceiling,
        "throughput_per_s": min(rate, ceiling) if ceiling else rate,
        "p50_ms": median(y),
        "wall_ms": seconds * 1000 + y[-1],
        "curve": {"x": at, "y": y, "x_label": "sent, s after the start", "y_label": "latency, ms"},
    }


def _curves(s: Settings) -> dict[str, Any]:
    """The burst's p50 and p99 against the pool's size, with the other controls as they are."""
    pools: Sequence[int] = [10, 20, 30, 50, 70, 100, 150, 200, 300, 400, 500, 700, 1000]
    all_ms = [models.burst_latencies_ms(int(s["users"]), pool, _held_ms(s)) for pool in pools]
    lines = {name: [percentile(ms, share) for ms in all_ms] for name, share in (("p50", 0.5), ("p99", 0.99))}
    return {"percentiles": {"x": list(pools), "x_label": "pool size, threads", **lines}}


def _line(s: Settings, o: Outcome) -> str:
    sent = sorted(x.latency_ms for x in o.samples if x.series == "requests" and x.cls == OK)
    offered = sum(x.series == "requests" for x in o.samples)
    who = f"{s['pool_size']} platform threads" if s["threads"] == "platform" else "virtual threads"
    load = (
        f"{s['users']} users at once"
        if s["arrivals"] == "burst"
        else f"{s['rate_per_s']:g} req/s for {s['duration_s']:g} s"
    )
    p50, p99 = percentile(sent, 0.5), percentile(sent, 0.99)
    times = f"p50 {p50:,.0f} ms, p99 {p99:,.0f} ms" if p50 and p99 and len(sent) >= 100 else f"p50 {p50 or 0:,.0f} ms"
    top = f" (ceiling {o.facts['ceiling_per_s']:,.0f})" if o.facts["ceiling_per_s"] else ""
    return f"{who}, {load}: {len(sent)} of {offered} ok, {times}, {o.facts['throughput_per_s'] or 0:,.0f} req/s{top}"


def _limits(s: Settings) -> None:
    limits.refuse_above("pool_size", float(s["pool_size"]), limits.threads(), "one JVM may have")
    connections = int(s["users"]) + int(s["idle_connections"])
    limits.refuse_above("users", connections, limits.descriptors(), "one client may hold connections open:")
    limits.refuse_above("jdbc_pool_size", float(s["jdbc_pool_size"]), limits.jdbc_connections(), "the database leaves")
    limits.refuse_above("users and service_ms together", float(_model(s)["wall_ms"]), 600_000, "a run lasts, in ms,")
    limits.refuse_above(
        "rate_per_s", float(s["rate_per_s"]) * float(s["duration_s"]), 200_000, "a run sends, in requests,"
    )
    if s["server"] == "plain" and s["downstream"] == "postgres":
        raise limits.not_together(
            "downstream=postgres", "server=plain", "the bare server has no database", "server=tomcat"
        )
    if s["server"] == "tomcat" and s["model"] == "connection":
        raise limits.not_together(
            "model=connection", "server=tomcat", "Tomcat gives a thread to a request", "server=plain"
        )


def _usual_rate(s: Settings) -> float:
    """80 % of the ceiling, or 400 a second where there is none."""
    full = {"in_parallel": False, "calls": 1, "cpu_ms": 0, "downstream": "sleep", "jdbc_pool_size": 10, **s}
    return round(0.8 * (_ceiling(full) or 500), 1)


CONTROLS = (
    Control("server", str, "tomcat", choices=tuple(SERVERS), help="Spring Boot's Tomcat, or a bare server"),
    Control("model", str, "request", choices=("request", "connection"), help="what a thread is given to"),
    Control("threads", str, "platform", choices=("platform", "virtual"), help="which kind serves"),
    Control("pool_size", int, 50, "threads", 1, 5000, help="platform threads that serve"),
    Control("users", int, 500, low=1, high=5000, help="requests at once, a new connection each"),
    Control("service_ms", int, 100, "ms", 0, 10_000, help="how long each call takes"),
    Control("cpu_ms", int, 0, "ms", 0, 1000, help="processor time a request burns"),
    Control("calls", int, 1, low=1, high=20, help="calls a request makes"),
    Control("in_parallel", bool, False, help="its calls at once, or one after another"),
    Control("downstream", str, "sleep", choices=("sleep", "postgres"), help="whom it calls"),
    Control("jdbc_pool_size", int, 10, "connections", 1, 1000, help="JDBC connections"),
    Control("idle_connections", int, 0, low=0, high=5000, help="connections that say nothing"),
    Control("arrivals", str, "burst", choices=("burst", "steady"), help="all at once, or at a rate"),
    Control("rate_per_s", float, _usual_rate, "requests/s", 0.1, 20_000, computed="80 % of the ceiling"),
    Control("duration_s", float, 6.0, "s", 0.1, 120, help="how long a steady load lasts"),
)

EXPERIMENTS = (
    Experiment("thread-per-request", "What does a crowd wait for a pool of threads?", "09_thread_per_request",
               _measure, _line, CONTROLS, _model, _limits, ("requests", "floor"), "stairs"),
)  # fmt: skip
