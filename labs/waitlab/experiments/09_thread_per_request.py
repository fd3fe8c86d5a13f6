"""Chapter 9's experiment: a thread for every request, on a bare server and on Tomcat, platform and virtual.

A burst and its floor, the same burst without work, are a pair. A void pair (or steady load) that is short is measured
again, twice at most, and the Run says so.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from typing import Any
from urllib.parse import urlencode, urlsplit

from waitlab import limits
from waitlab.controls import Control, Settings
from waitlab.experiments import crowd
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.experiments.serving import by_second, died_ms, sleeping
from waitlab.experiments.warming import roughly, warm
from waitlab.load.client import LoadResult
from waitlab.load.plans import Plan, Stream, burst, steady
from waitlab.load.samples import OK
from waitlab.load.verdict import burst_verdict, median_ms
from waitlab.runs import percentile
from waitlab.services import App

SERVERS = {"tomcat": "mvc", "plain": "plain"}
WARM_BURSTS, MOST_WARM = 2, 8
MOST_TRIES, LONG_MS = 3, 5000
LOOK_MS = 1500
NOBODY_S = 3.0


def _measure(bench: Bench, s: Settings) -> Outcome:
    app = _server(bench, s)
    in_force = app.settings() | {"same_clock": app.same_clock}
    door = _door(app, s, in_force)
    seen = _look(bench, app, door, s) if s["thread_dump"] else {}
    _warm(bench, app, door, s)
    once = float(crowd.model(s).get("wall_ms") or 0) > LONG_MS
    for attempt in range(1, MOST_TRIES + 1):
        floor, result, counted = _pair(bench, app, door, s)
        client = _client(s, floor, result)
        notes = (f"measured {attempt} times, since the client was slow",) if attempt > 1 else ()
        if not client["saturated"] or result.partial or once or "server_died" in counted:
            break
    facts = _facts(result, s) | seen | counted
    return Outcome(result.samples + floor.samples, facts, in_force, client, result.t0, result.partial, notes)


def _pair(bench: Bench, app: App, door: str, s: Settings) -> tuple[LoadResult, LoadResult, dict[str, Any]]:
    """The floor, the load, and the server's threads counted from one to the other."""
    floor = LoadResult(0.0, (), {}, False) if s["arrivals"] == "steady" else _floor(bench, door, s)
    app.delete("/threads/peak")
    result = bench.load(_plan(door, s))
    return floor, result, died_ms(app, result) or app.get("/threads/peak")


def _server(bench: Bench, s: Settings) -> App:
    common = {"cpus": s["cpus"], "pool_size": s["pool_size"]}
    if s["server"] == "tomcat":
        return bench.app("mvc", **common, jdbc_pool_size=s["jdbc_pool_size"])
    return bench.app("plain", **common, model=s["model"])


def _door(app: App, s: Settings, in_force: dict[str, Any]) -> str:
    """The address behind which the asked kind of thread works: both kinds serve in one JVM, on two ports."""
    if s["threads"] == "platform":
        return app.url
    return f"http://{urlsplit(app.url).hostname}:{in_force['virtual_port']}"


def _path(s: Settings) -> str:
    named = {"ms": s["service_ms"], "cpu_ms": s["cpu_ms"], "calls": s["calls"], "downstream": s["downstream"]}
    return "/work?" + urlencode({**named, "parallel": str(s["in_parallel"]).lower()})


def _stream(name: str, url: str, s: Settings, at_s: tuple[float, ...]) -> Stream:
    """Requests that give up late: three times what theory says, or soon where nobody will be served."""
    wall_ms = crowd.model(s).get("wall_ms")
    longest_s = NOBODY_S if wall_ms is None else min(10 + 3 * float(wall_ms) / 1000, 600.0)
    return Stream(name, url, at_s, longest_s)


def _plan(door: str, s: Settings) -> Plan:
    stays = s["arrivals"] == "steady"
    at_s = steady(float(s["rate_per_s"]), float(s["duration_s"])) if stays else burst(int(s["users"]))
    stream, idle = _stream("requests", door + _path(s), s, at_s), int(s["idle_connections"])
    return Plan((stream,), "steady" if stays else "burst", idle_connections=idle, idle_url=door if idle else "")


# -- before and after: who serves, warm, the floor -----------------------------------------------------------------


def _look(bench: Bench, app: App, door: str, s: Settings) -> dict[str, Any]:
    """Who holds a request, by name and kind, from a thread dump while one wave of an unmeasured burst is held."""
    wave = min(int(s["users"]), int(s["pool_size"]) if s["threads"] == "platform" else 500)
    stream = Stream("look", f"{door}/work?ms={LOOK_MS}", burst(wave))
    with ThreadPoolExecutor(1) as aside:
        held = aside.submit(bench.unmeasured, Plan((stream,), "burst"))
        bench.progress(0.0, "looking at the threads")
        most = sleeping(app)
        while not held.done() and len(most) < wave:
            most = max(most, sleeping(app), key=len)
    kinds = Counter("virtual" if thread.virtual else "platform" for thread in most)
    return {"sleeping_by_kind": dict(kinds), "sleeping_names": sorted(thread.name for thread in most)[:5]}


def _warm(bench: Bench, app: App, door: str, s: Settings) -> None:
    """Unmeasured bursts: of no work until their medians agree roughly, then two short ones of this work."""
    few = {**s, "users": min(int(s["users"]), 500)}
    path = _path({**s, "service_ms": min(float(s["service_ms"]), 20), "cpu_ms": min(int(s["cpu_ms"]), 1)})
    plan = Plan((_stream("warm", door + path, s, burst(int(few["users"]))),), "burst")
    warm(bench, app, door, lambda: median_ms(_floor(bench, door, few).samples), MOST_WARM, roughly)
    own = (door, path, s["jdbc_pool_size"])
    warm(bench, app, own, lambda: median_ms(bench.unmeasured(plan).samples), WARM_BURSTS)


def _floor(bench: Bench, door: str, s: Settings) -> LoadResult:
    """The same burst without work: what the client and the connections cost."""
    return bench.unmeasured(Plan((Stream("floor", f"{door}/work?ms=0", burst(int(s["users"]))),), "burst"))


def _client(s: Settings, floor: LoadResult, result: LoadResult) -> dict[str, Any]:
    """The client's facts; a burst is judged by its floor, unless the floor is what was asked for."""
    if s["arrivals"] == "steady":
        return result.client
    facts = result.client | {"floor_p50_ms": median_ms(floor.samples)}
    if crowd.held_ms(s) == 0:
        return facts | {"saturated": bool(facts["retransmits"])}
    verdict = burst_verdict(result.samples, floor.samples, facts["retransmits"])
    return facts | {"saturated": verdict.void, "why": verdict.why}


# -- what came out -------------------------------------------------------------------------------------------------


def _facts(result: LoadResult, s: Settings) -> dict[str, Any]:
    done = [x for x in result.samples if x.cls == OK]
    wall_ms = (max((x.done_s or result.t0 for x in done), default=result.t0) - result.t0) * 1000
    workers = len({x.thread for x in done})
    facts = {
        "wall_ms": wall_ms,
        "throughput_per_s": len(done) / wall_ms * 1000 if wall_ms else 0.0,
        "ceiling_per_s": crowd.ceiling(s),
        "waves": ceil(len(done) / workers) if workers else 0,
        "threads_that_served": workers,
        "processors": crowd.processors(s),
    }
    if s["arrivals"] == "burst":
        return facts
    seconds = by_second(done, result.t0)
    return facts | {"p50_ms_by_second": seconds, "p50_last_second_ms": seconds[-1] if seconds else None}


def _line(s: Settings, o: Outcome) -> str:
    requests = [x for x in o.samples if x.series == "requests"]
    took = sorted(x.latency_ms for x in requests if x.cls == OK)
    p50, p99 = percentile(took, 0.5), percentile(took, 0.99)
    times = f", p50 {p50:,.0f} ms" if p50 is not None else ""
    times += f", p99 {p99:,.0f} ms" if p99 is not None and len(took) >= 100 else ""
    top = o.facts["ceiling_per_s"]
    ceiling = f" (ceiling {top:,.0f})" if top is not None else ""
    counted = f"{len(took)} of {len(requests)} ok{times}, {o.facts['throughput_per_s']:,.0f} req/s{ceiling}"
    return f"{', '.join(_asked(s))}: {counted}"


def _asked(s: Settings) -> list[str]:
    """The load and the server in words: what is usual is left out."""
    pool = "1 platform thread" if s["pool_size"] == 1 else f"{s['pool_size']:,} platform threads"
    crowd_of = "1 user" if s["users"] == 1 else f"{s['users']:,} users at once"
    steady_load = f"{s['rate_per_s']:g} req/s for {s['duration_s']:g} s"
    calls = f"{s['calls']} calls {'at once' if s['in_parallel'] else 'in a row'}"
    named = {
        "bare server": s["server"] == "plain",
        "a thread for each connection": s["model"] == "connection",
        pool if s["threads"] == "platform" else "virtual threads": True,
        crowd_of if s["arrivals"] == "burst" else steady_load: True,
        calls: s["calls"] != 1,
        f"{s['service_ms']:,} ms of service": s["service_ms"] != 100,
        f"{s['cpu_ms']} ms of computing": bool(s["cpu_ms"]),
        f"{s['jdbc_pool_size']} connections to PostgreSQL": s["downstream"] == "postgres",
        f"{s['idle_connections']:,} silent connections": bool(s["idle_connections"]),
    }
    return [words for words, said in named.items() if said]


def _limits(s: Settings) -> None:
    sent = float(s["rate_per_s"]) * float(s["duration_s"]) if s["arrivals"] == "steady" else 0.0
    held_open = float(s["users"]) + float(s["idle_connections"])
    longest_ms = float(crowd.model(s).get("wall_ms") or 0)
    limits.refuse_above("pool_size", float(s["pool_size"]), limits.threads(), "one JVM may have")
    limits.refuse_above("users", held_open, limits.descriptors(), "one client may hold connections open:")
    limits.refuse_above("jdbc_pool_size", float(s["jdbc_pool_size"]), limits.jdbc_connections(), "the database leaves")
    limits.refuse_above("users and service_ms together", longest_ms, 600_000, "a run lasts, in ms,")
    limits.refuse_above("rate_per_s", sent, 200_000, "a run sends, in requests,")
    if s["server"] == "plain" and s["downstream"] == "postgres":
        why = "the bare server has no database"
        raise limits.not_together("downstream=postgres", "server=plain", why, "server=tomcat")
    if s["server"] == "tomcat" and s["model"] == "connection":
        why = "Tomcat gives a thread to a request"
        raise limits.not_together("model=connection", "server=tomcat", why, "server=plain")


def _usual_rate(s: Settings) -> float:
    """80 % of the ceiling, or 400 a second where there is none."""
    fixed = {control.name: control.default for control in CONTROLS if not callable(control.default)}
    return round(0.8 * (crowd.ceiling({**fixed, **s}) or 500), 1)


def _drawn(s: Settings) -> str:
    return "latency" if s["arrivals"] == "steady" else "stairs"


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
    Control("cpus", int, 2, low=1, high=64, help="processors the JVM is told it has"),
    Control("arrivals", str, "burst", choices=("burst", "steady"), help="all at once, or at a rate"),
    Control("rate_per_s", float, _usual_rate, "requests/s", 0.1, 20_000, computed="80 % of the ceiling"),
    Control("duration_s", float, 6.0, "s", 0.1, 120, help="how long a steady load lasts"),
    Control("thread_dump", bool, False, help="look at the threads first, in a burst of its own"),
)

EXPERIMENTS = (
    Experiment("thread-per-request", "What does a crowd wait for a pool of threads?", "09_thread_per_request",
               _measure, _line, CONTROLS, crowd.model, _limits, ("requests", "floor"), _drawn),
)  # fmt: skip
