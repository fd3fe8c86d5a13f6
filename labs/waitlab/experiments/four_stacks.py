"""Chapter 18's four stacks: one query on one PostgreSQL under one open load, served in four ways.

The server looks at its own queues meanwhile (`watched`), and a rule names the limit that was hit first (`queues`).
"""

from __future__ import annotations

from math import ceil
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from waitlab import limits
from waitlab import models_stacks as models
from waitlab.controls import Control, Settings, Value
from waitlab.experiments import watched
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.experiments.queues import first_limit
from waitlab.experiments.serving import client_facts, died_ms
from waitlab.experiments.stacks_theory import knee, longest_ms, model, refuse, widths
from waitlab.experiments.warming import warm
from waitlab.load.client import LoadResult
from waitlab.load.plans import Plan, Stream, burst, poisson, steady
from waitlab.load.samples import OK
from waitlab.load.verdict import median_ms
from waitlab.runs import percentile
from waitlab.services import App

STACKS = ("mvc-platform", "mvc-virtual", "webflux-jdbc-offloaded", "webflux-r2dbc")
APPS = {"mvc-platform": "mvc", "mvc-virtual": "mvc", "webflux-jdbc-offloaded": "webflux", "webflux-r2dbc": "webflux"}
OF_APP = {
    "mvc": ("cpus", "pool_size", "jdbc_pool_size"),
    "webflux": ("cpus", "offload_pool_size", "jdbc_pool_size", "r2dbc_pool_size"),
}
SAID = {
    "mvc-platform": "MVC on platform threads",
    "mvc-virtual": "MVC on virtual threads",
    "webflux-jdbc-offloaded": "WebFlux, JDBC offloaded",
    "webflux-r2dbc": "WebFlux, R2DBC",
}
MOST_TRIES = 3
USUAL_POOL, FILLS, FILL_MS = 10, 6, 300
WINDOW_S, WINDOW_PER_S, WINDOWS = 0.5, 200.0, 6


def _measure(bench: Bench, s: Settings) -> Outcome:
    app = _server(bench, s)
    door = _door(app, s)
    url = door + _path(s)
    _fill_pools(bench, app, url, s)
    cold = _warm(bench, app, url, int(s[models.CONNECTIONS[str(s["stack"])]]))
    for attempt in range(1, MOST_TRIES + 1):
        in_force = app.settings() | {"same_clock": app.same_clock}
        app.delete(f"/queues?seconds={_watched_s(s)}")
        result = bench.load(_plan(url, s))
        died, client = died_ms(app, result), client_facts(result, "steady")
        again = (f"measured {attempt} times, since the client was late",) if attempt > 1 else ()
        if not client["saturated"] or result.partial or died:
            break
    watched_by_one_clock = app.same_clock and not died
    facts = _served(result, s) | died | (_queues(app, result, s, in_force) if watched_by_one_clock else {})
    return Outcome(result.samples, facts, in_force, client, result.t0, result.partial, cold + again)


# -- before: the server, its address, its pools, warmth ---------------------------------------------------------


def _server(bench: Bench, s: Settings) -> App:
    name = APPS[str(s["stack"])]
    _free_connections(bench, name, int(s["jdbc_pool_size"]) + int(s["r2dbc_pool_size"]))
    return bench.app(name, **{control: s[control] for control in OF_APP[name]})


def _free_connections(bench: Bench, name: str, wanted: int) -> None:
    """Where the lab's other servers hold too many of the database's connections, they go back to their usual pools."""
    for other in (app for found, app in bench.lab.running().items() if found != name):
        held = {pool: int(size) for pool, size in other.asked.items() if pool in ("jdbc_pool_size", "r2dbc_pool_size")}
        if sum(held.values()) + wanted > limits.database_connections():
            other.change(**dict[str, Value].fromkeys(held, USUAL_POOL))


def _door(app: App, s: Settings) -> str:
    """The address: virtual threads have a port of their own in the same JVM."""
    if s["stack"] != "mvc-virtual":
        return app.url
    return f"http://{urlsplit(app.url).hostname}:{app.settings()['virtual_port']}"


def _path(s: Settings) -> str:
    seconds = f"s={float(s['query_ms']) / 1000:g}"
    own = {"webflux-jdbc-offloaded": f"/jdbc-isolated?{seconds}", "webflux-r2dbc": f"/r2dbc?{seconds}"}
    return own.get(str(s["stack"]), f"/work?ms={s['query_ms']}&downstream=postgres")


def _fill_pools(bench: Bench, app: App, url: str, s: Settings) -> None:
    """Asks until the pool has the connections that can be in use: one that grew opens them only for who waits."""
    size = min(widths(s).values())
    open_now = models.CONNECTIONS[str(s["stack"])].replace("_pool_size", "_connections")
    app.get(url.removeprefix(_root(url)))
    slowly = _root(url) + _path({**s, "query_ms": max(int(s["query_ms"]), FILL_MS)})
    for _ in range(FILLS):
        if app.settings()[open_now] >= size:
            return
        bench.unmeasured(Plan((Stream("warm", slowly, burst(size), _timeout_s(0.0)),)))


def _root(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _warm(bench: Bench, app: App, url: str, connections: int) -> tuple[str, ...]:
    """Warms the server with short windows of load, for each address and size of the pool."""
    plan = Plan((Stream("warm", url, steady(WINDOW_PER_S, WINDOW_S), _timeout_s(0.0)),), "steady")
    return warm(bench, app, (url, connections), lambda: median_ms(bench.unmeasured(plan).samples), WINDOWS)


def _plan(url: str, s: Settings) -> Plan:
    rate, seconds = float(s["rate_per_s"]), float(s["duration_s"])
    at = poisson(rate, seconds, int(s["seed"])) if s["arrivals"] == "poisson" else steady(rate, seconds)
    return Plan((Stream("requests", url, at, _timeout_s(longest_ms(s))),), "steady")


def _timeout_s(longest_ms: float) -> float:
    return min(10 + 3 * longest_ms / 1000, 70.0)


def _watched_s(s: Settings) -> int:
    return min(ceil(float(s["duration_s"]) + _timeout_s(longest_ms(s)) + 5), 900)


# -- what came out ----------------------------------------------------------------------------------------------


def _served(result: LoadResult, s: Settings) -> dict[str, Any]:
    done = [x for x in result.samples if x.cls == OK]
    wall_s = max((x.done_s or result.t0 for x in done), default=result.t0) - result.t0
    return {
        "wall_ms": wall_s * 1000,
        "throughput_per_s": len(done) / wall_s if wall_s > 0 else 0.0,
        "mean_ms": sum(x.latency_ms for x in done) / len(done) if done else None,
        "knee_per_s": knee(s),
        "first_limit": "unknown",
    }


def _queues(app: App, result: LoadResult, s: Settings, in_force: dict[str, Any]) -> dict[str, Any]:
    stack = str(s["stack"])
    seen = watched.looks(app.get("/queues"), result.samples, result.t0, float(s["duration_s"]))
    known = (in_force["available_processors"], in_force.get("container_cpus"), limits.cpus())
    processors = min(float(one) for one in known if one)
    own, machine = watched.cpu_share(seen, processors), watched.machine_share(seen)
    limit, why = first_limit(watched.median_look(seen, stack, s, max(own or 0.0, machine or 0.0)))
    return {
        "first_limit": limit,
        "why": why,
        "queues": watched.queues(seen, stack),
        "in_service": watched.in_service(seen, stack, s),
        "in_flight_p50": median(seen.during(seen.in_flight)),
        "cpu_share": own,
        "machine_cpu_share": machine,
        "platform_threads_peak": seen.threads_peak,
        "looks": len(seen.at_s),
        "queue_over_time": watched.lines(seen, stack),
    }


def _line(s: Settings, o: Outcome) -> str:
    took = sorted(x.latency_ms for x in o.samples if x.cls == OK)
    shown = [(name, percentile(took, share)) for name, share in (("p50", 0.5), ("p99", 0.99))]
    enough = {"p50": 1, "p99": 100}
    times = "".join(f", {name} {ms:,.1f} ms" for name, ms in shown if ms is not None and len(took) >= enough[name])
    counted = f"{len(took):,} of {len(o.samples):,} ok{times}, {o.facts['throughput_per_s']:,.0f} req/s"
    return f"{SAID[str(s['stack'])]}, {s['rate_per_s']:g} req/s: {counted}; first limit: {o.facts['first_limit']}"


CONTROLS = (
    Control("stack", str, "mvc-platform", choices=STACKS, help="who waits for the query, and how"),
    Control("rate_per_s", float, 300.0, "requests/s", 1, 5000, help="arrivals, which do not wait for answers"),
    Control("duration_s", float, 5.0, "s", 0.5, 60, help="how long they come"),
    Control("query_ms", int, 20, "ms", 1, 1000, help="how long PostgreSQL takes for the query"),
    Control("pool_size", int, 200, "threads", 1, 5000, help="Tomcat's platform threads"),
    Control("jdbc_pool_size", int, 10, "connections", 1, 250, help="JDBC connections"),
    Control("r2dbc_pool_size", int, 10, "connections", 1, 250, help="R2DBC connections"),
    Control("cpus", int, 2, low=1, high=64, help="processors the JVM is told it has"),
    Control("offload_pool_size", int, lambda s: 10 * int(s["cpus"]), "threads", 1, 2000,
            computed="10 x cpus", help="threads that blocking calls are moved to"),
    Control("arrivals", str, "poisson", choices=("poisson", "constant"), help="at random moments, or evenly"),
    Control("seed", int, 1, low=0, high=999_999_999, help="of the random moments"),
)  # fmt: skip

EXPERIMENTS = (
    Experiment("four-stacks", "Which limit does each of four stacks hit first, and where do its requests wait?",
               "18_choosing", _measure, _line, CONTROLS, model, refuse, ("requests",), "stacks"),
)  # fmt: skip
