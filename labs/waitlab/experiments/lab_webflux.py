"""The WebFlux lab's experiments with load: how many loops, and who is hurt by a sleeper."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from waitlab import limits, models
from waitlab.controls import Control, Settings
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.experiments.serving import LOOP_PREFIX, client_facts, died_ms, until
from waitlab.experiments.warming import warm_path
from waitlab.load.plans import Plan, Stream, burst, spaced
from waitlab.load.samples import OK, Sample
from waitlab.services import App

ON_LOOP = ("sleep", "jdbc", "jdbc-publish")
OFFLOADED = ("jdbc-isolated", "callable-publish")
ENDPOINTS = ("sleep", "jdbc", "jdbc-isolated", "jdbc-publish", "callable-publish", "r2dbc")
R2DBC_POOL = 10
MOST_TRIES = 3
POOL_S = 5.0
FRACTIONS = "of a fraction the JVM would see the next whole number, and be stopped when it is used up (see throttled)"
CPUS = Control("cpus", int, 2, low=1, high=64, help="processors the JVM is told it has", why=FRACTIONS)


def path_of(endpoint: str, block_ms: float) -> str:
    """The path that makes `endpoint` block for `block_ms`."""
    return f"/sleep?ms={block_ms:g}" if endpoint == "sleep" else f"/{endpoint}?s={block_ms / 1000:g}"


# -- loops: how many threads serve this server? ------------------------------------------------------------------


def _measure_loops(bench: Bench, s: Settings) -> Outcome:
    app = bench.app("webflux", cpus=s["cpus"])
    in_force = app.settings()
    result = bench.load(Plan((Stream("fast", f"{app.url}/fast", burst(int(s["requests"]))),), "burst"))
    died = died_ms(app, result)
    names = [] if died else sorted(t.name for t in app.threads() if t.name.startswith(LOOP_PREFIX))
    told = ("available_processors", "event_loops", "bounded_elastic_size", "bounded_elastic_queue_per_thread")
    facts = {name: in_force[name] for name in (*told, "jdbc_pool_size")}
    facts["event_loop_threads"] = names
    return Outcome(result.samples, facts | died, in_force, client_facts(result, "floor"), result.t0, result.partial)


def _loops_model(s: Settings) -> dict[str, Any]:
    loops = models.event_loops(int(s["cpus"]))
    elastic = models.bounded_elastic_size(int(s["cpus"]))
    share = models.evenly(int(s["requests"]), loops)
    return {"event_loops": loops, "bounded_elastic_size": elastic, "requests_by_loop": share}


def _loops_line(s: Settings, o: Outcome) -> str:
    counts = _by_thread(o.samples, "fast")
    return (
        f"{s['cpus']} CPUs: {o.facts['event_loops']} event loops, {o.facts['bounded_elastic_size']} elastic threads; "
        f"{s['requests']} requests fell {', '.join(map(str, counts.values())) or 'nowhere'}"
    )


# -- bystander: who waits for a sleeper? -------------------------------------------------------------------------


def _measure_bystander(bench: Bench, s: Settings) -> Outcome:
    names = ("cpus", "event_loops", "accept", "offload_pool_size", "jdbc_pool_size")
    app = bench.app("webflux", **{name: s[name] for name in names})
    cold = warm_path(bench, app, path_of(str(s["endpoint"]), 1) if s["k"] else "/fast")
    in_force = _with_full_pool(app, s) | {"same_clock": app.same_clock}
    attempt = 0
    while attempt < MOST_TRIES:
        attempt += 1
        result = bench.load(_bystander_plan(app.url, s))
        died = died_ms(app, result)
        client = client_facts(result, "steady", "fast", int(s["event_loops"]) if s["keep_alive"] else 0)
        if not client["saturated"] or result.partial or died:
            break
    again = (f"measured {attempt} times, since the client was late",) if attempt > 1 else ()
    facts = _bystander_facts(result.samples, result.t0, s, in_force) | died
    return Outcome(result.samples, facts, in_force, client, result.t0, result.partial, cold + again)


def _with_full_pool(app: App, s: Settings) -> dict[str, Any]:
    """What is in force, once the JDBC pool has all its connections, where it is used: a pool that grew fills late."""
    if s["k"] and str(s["endpoint"]) not in ("sleep", "r2dbc"):
        app.get("/jdbc?s=0")
        until(lambda: app.settings()["jdbc_connections"] >= int(s["jdbc_pool_size"]), POOL_S)
    return app.settings()


def _bystander_plan(url: str, s: Settings) -> Plan:
    timeout = 10 + 2 * float(_bystander_model(s)["all_blocked_ms"]) / 1000
    blocked = path_of(str(s["endpoint"]), float(s["block_ms"]))
    block = Stream("block", url + blocked, burst(int(s["k"])), timeout, connect_first=True)
    at = spaced(int(s["fast"]), float(s["interval_ms"]) / 1000, float(s["head_start_ms"]) / 1000)
    kept = bool(s["keep_alive"])
    slots = int(s["event_loops"]) if kept else 0
    fast = Stream("fast", f"{url}/fast", at, timeout, connection="kept" if kept else "new", connections=slots)
    return Plan((block, fast) if s["k"] else (fast,), "steady")


def _bystander_facts(samples: Iterable[Sample], t0: float, s: Settings, in_force: dict[str, Any]) -> dict[str, Any]:
    done = [x for x in samples if x.cls == OK]
    block = [x for x in done if x.series == "block"]
    fast = sorted((x for x in done if x.series == "fast"), key=lambda x: x.intended_s)
    ends = [x.done_s or t0 for x in block]
    end = max(ends, default=t0)
    return {
        "event_loops": in_force["event_loops"],
        "all_blocked_ms": (end - t0) * 1000,
        "first_fast_wait_ms": fast[0].latency_ms if fast else None,
        "accepting_thread": in_force["accepting_thread"],
        "held_share": _held_share(fast, min(ends, default=t0), float(s["block_ms"])),
        "blocked_threads": list(_by_thread(block, "block")),
    }


def _held_share(fast: Iterable[Sample], asleep_until: float, block_ms: float) -> float | None:
    """The share of fast requests that waited over half of what the first sleeper had left; None without a sleeper.

    Only those sent with a twentieth of the block or more to go count: in the last moment nothing tells them apart.
    """
    left = [(x, (asleep_until - x.intended_s) * 1000) for x in fast]
    during = [(x, ms) for x, ms in left if ms > block_ms / 20]
    return sum(x.latency_ms > ms / 2 for x, ms in during) / len(during) if during else None


def _bystander_model(s: Settings) -> dict[str, Any]:
    k, block, loops, kind = int(s["k"]), float(s["block_ms"]), int(s["event_loops"]), str(s["endpoint"])
    width = _width(kind, s)
    all_blocked = models.makespan_ms(k, width, block)
    hurts = kind in ON_LOOP and k > 0
    certain = hurts and k >= loops
    shared = models.held_share(k, loops, accepting_loop_sleeps=certain) if hurts else 0.0
    end = float(s["head_start_ms"]) + float(s["interval_ms"]) * max(int(s["fast"]) - 1, 1)
    x = [step * end / 60 for step in range(61)]
    longest = [models.wait_for_sleeper_ms(ms, all_blocked if hurts else 0.0) for ms in x]
    first_awake = k // loops * block if hurts else 0.0
    curve = {"x": [ms / 1000 for ms in x], "y": longest}
    return {
        "event_loops": loops,
        "all_blocked_ms": all_blocked,
        "held_share": shared,
        "held_share_if_accepting_loop_sleeps": 1.0 if hurts and s["accept"] == "shared" else shared,
        "first_fast_wait_ms": models.wait_for_sleeper_ms(float(s["head_start_ms"]), first_awake),
        "curve": curve | {"x_label": "sent, s after the start", "y_label": "longest wait, ms"},
    }


def _width(endpoint: str, s: Settings) -> int:
    """How many blockers run at a time: threads that may block, and connections to the database."""
    threads = {**dict.fromkeys(ON_LOOP, s["event_loops"]), **dict.fromkeys(OFFLOADED, s["offload_pool_size"])}
    pool = {"sleep": 10**9, "r2dbc": R2DBC_POOL}.get(endpoint, s["jdbc_pool_size"])
    return min(int(threads.get(endpoint, 10**9)), int(pool))


def _bystander_line(s: Settings, o: Outcome) -> str:
    fast = [x for x in o.samples if x.series == "fast"]
    ok = [x.latency_ms for x in fast if x.cls == OK]
    slowest = f"max {max(ok):,.0f} ms" if ok else "none answered"
    head = (
        f"{s['k']} x /{s['endpoint']} of {s['block_ms']:,} ms on {o.facts['event_loops']} loops"
        if s["k"]
        else "no blocker"
    )
    tail = f"; {_blocked_words(o)}" if s["k"] else ""
    return f"{head}: /fast {len(ok)} of {len(fast)} ok, {slowest}{tail}"


def _blocked_words(o: Outcome) -> str:
    """When the blocked calls were done, or how many were where some failed."""
    block = [x.cls == OK for x in o.samples if x.series == "block"]
    if not any(block):
        return "no blocked call was done"
    which = "all" if all(block) else f"{sum(block)} of {len(block)}"
    return f"{which} blocked calls done at {o.facts['all_blocked_ms']:,.0f} ms"


def _bystander_limits(s: Settings) -> None:
    limits.refuse_above("jdbc_pool_size", float(s["jdbc_pool_size"]), limits.jdbc_connections(), "the database leaves")
    limits.refuse_above("offload_pool_size", float(s["offload_pool_size"]), limits.threads(), "one JVM may have")
    limits.refuse_above("k", float(s["k"]), limits.descriptors(), "one client may hold connections open:")
    last = float(s["head_start_ms"]) + float(s["interval_ms"]) * float(s["fast"])
    longest = max(last, float(_bystander_model(s)["all_blocked_ms"]))
    limits.refuse_above("block_ms, k, fast and interval_ms together", longest, 600_000, "a run lasts, in ms,")


def _by_thread(samples: Iterable[Sample], series: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for x in samples:
        if x.series == series and x.cls == OK and x.thread:
            counts[x.thread] = counts.get(x.thread, 0) + 1
    return dict(sorted(counts.items()))


_BYSTANDER_CONTROLS = (
    Control("endpoint", str, "sleep", choices=ENDPOINTS, help="what the blockers call"),
    Control("k", int, 4, low=0, high=500, help="blockers, all at once"),
    Control("block_ms", int, 2000, "ms", 1, 60_000, help="how long each blocks"),
    Control("fast", int, 10, low=1, high=2000, help="bystanders that call /fast"),
    Control("interval_ms", int, 200, "ms", 1, 10_000, help="time between two bystanders"),
    Control("head_start_ms", int, 300, "ms", 0, 10_000, help="how long the blockers come before the first"),
    CPUS,
    Control("event_loops", int, lambda s: models.event_loops(int(s["cpus"])), low=1, high=256,
            computed="max(cpus, 4)", help="Reactor Netty's event loops"),
    Control("offload_pool_size", int, lambda s: models.bounded_elastic_size(int(s["cpus"])), "threads", 1, 2000,
            computed="10 x cpus", help="threads that blocking calls are moved to"),
    Control("jdbc_pool_size", int, 10, "connections", 1, 1000, help="JDBC connections"),
    Control("accept", str, "shared", choices=("shared", "own"), help="does a loop that serves also accept?"),
    Control("keep_alive", bool, False, help="bystanders use connections opened before"),
)  # fmt: skip

EXPERIMENTS = (
    Experiment("loops", "How many threads serve this server?", "lab_webflux", _measure_loops, _loops_line,
               (CPUS, Control("requests", int, 50, low=1, high=5000, help="trivial requests, all at once")),
               _loops_model, series=("fast",), draw="threads"),
    Experiment("bystander", "Who waits for a sleeper?", "lab_webflux", _measure_bystander, _bystander_line,
               _BYSTANDER_CONTROLS, _bystander_model, _bystander_limits, ("block", "fast"), "timeline"),
)  # fmt: skip
