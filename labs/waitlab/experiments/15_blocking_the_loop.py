"""Chapter 15's experiments: one request in a hundred blocks its loop, on plain loops and on a WebFlux server; when a
call runs; and which calls that look innocent are seen by BlockHound."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

from waitlab import limits, models
from waitlab import models_15 as models_of_crowds
from waitlab.controls import Control, Settings
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.experiments.blocked_crowd import blocking, crowd, model, remember_hold
from waitlab.experiments.serving import NO_CLIENT, client_facts, died_ms
from waitlab.experiments.warming import warm_path
from waitlab.load.plans import Plan, Stream, steady
from waitlab.load.samples import OK, Sample
from waitlab.runs import percentile
from waitlab.services.app import on_one_clock

PATHS = {"none": "/fast", "onloop": "/jdbc", "offload": "/jdbc-isolated", "r2dbc": "/r2dbc"}
WORDS = {"none": "nothing blocks", "onloop": "blocks on the loop", "offload": "blocks moved", "r2dbc": "R2DBC"}
MOST_TRIES = 3
INNOCENT = ("jdbc-template", "rest-template", "lock", "synchronized", "read-file", "log", "calculation")


# -- one-percent: what does one blocking request in a hundred do to the others? ----------------------------------


def _measure(bench: Bench, s: Settings) -> Outcome:
    return _on_webflux(bench, s) if s["server"] == "webflux" else _on_plain_loops(bench, s)


def _on_plain_loops(bench: Bench, s: Settings) -> Outcome:
    bench.check_stop()
    bench.progress(0.0, "serving the crowd on a plain JVM")
    before = time.monotonic()
    *lines, found = bench.lab.run_main("loops", _options(s), stop=bench.stop)
    t0 = found["start_us"] / 1e6
    samples = tuple(_sample(line, t0) for line in lines)
    remember_hold(s, found["measured_hold_us"])
    theory = models_of_crowds.theory(crowd(s, found["measured_hold_us"]))
    facts = _facts(samples, t0, s) | {
        "predicted_wall_ms": theory.wall_ms,
        "measured_hold_us": found["measured_hold_us"],
    }
    told = ("offload_pool_size", "available_processors", "java")
    in_force = {name: found[name] for name in told} | {"event_loops": found["loops"]}
    in_force["same_clock"] = on_one_clock(before, t0, time.monotonic())
    return Outcome(samples, facts, in_force, NO_CLIENT, t0, notes=(_held(s),))


def _options(s: Settings) -> dict[str, Any]:
    same = ("where", "assignment", "hold", "loops", "requests", "offload_pool_size", "block_ms", "normal_us", "seed")
    return {name: s[name] for name in same} | {"blocking": blocking(s)}


def _sample(line: dict[str, Any], t0: float) -> Sample:
    """One request of the crowd: it should have been, and was, there at the start."""
    end = line["ended_us"] / 1e6
    times = (line["started_us"], line["ended_us"])
    return Sample(line["series"], line["index"], t0, t0, end, end, 0, OK, line["thread"], *times)


def _on_webflux(bench: Bench, s: Settings) -> Outcome:
    app = bench.app("webflux", event_loops=s["loops"], offload_pool_size=s["offload_pool_size"])
    path = _path(s)
    cold = warm_path(bench, app, path.replace(f"={float(s['block_ms']) / 1000:g}", "=0.01"))
    in_force = app.settings() | {"same_clock": app.same_clock}
    plan = _plan(app.url, path, s)
    for attempt in range(1, MOST_TRIES + 1):
        result = bench.load(plan)
        died, client = died_ms(app, result), client_facts(result, "steady", "normal")
        again = (f"measured {attempt} times, since the client was late",) if attempt > 1 else ()
        if not client["saturated"] or result.partial or died:
            break
    held_us = [us for x in result.samples if x.series == "normal" and (us := _held_us(x)) is not None]
    facts = _facts(result.samples, result.t0, s) | {
        "predicted_wall_ms": float(s["duration_s"]) * 1000,
        "measured_hold_us": sum(held_us) / len(held_us) if held_us else None,
    }
    return Outcome(result.samples, facts | died, in_force, client, result.t0, result.partial, cold + again)


def _held_us(x: Sample) -> int | None:
    if x.server_started_us is None or x.server_ended_us is None:
        return None
    return x.server_ended_us - x.server_started_us


def _path(s: Settings) -> str:
    path = PATHS[str(s["where"])]
    return path if path == "/fast" else f"{path}?s={float(s['block_ms']) / 1000:g}"


def _plan(url: str, path: str, s: Settings) -> Plan:
    """A steady load on new connections; which requests block is drawn, since a fixed beat would choose its victims."""
    at = steady(float(s["rate_per_s"]), float(s["duration_s"]))
    chosen = set(Random(int(s["seed"])).sample(range(len(at)), round(float(s["blocking_share"]) * len(at))))
    timeout = 30 + float(s["block_ms"]) / 1000
    normal = Stream("normal", f"{url}/fast", tuple(t for i, t in enumerate(at) if i not in chosen), timeout)
    block = Stream("blocking", url + path, tuple(t for i, t in enumerate(at) if i in chosen), timeout)
    return Plan(tuple(stream for stream in (normal, block) if stream.at_s), "steady")


def _facts(samples: Sequence[Sample], t0: float, s: Settings) -> dict[str, Any]:
    done = [x for x in samples if x.cls == OK]
    wall_ms = (max((x.done_s or t0 for x in done), default=t0) - t0) * 1000
    innocents = [x for x in samples if x.series == "normal"]
    slow = sum(x.cls == OK and x.latency_ms > float(s["block_ms"]) for x in innocents)
    on_loops = Counter(x.thread for x in done if x.series == "blocking" and s["where"] == "onloop")
    return {
        "wall_ms": wall_ms,
        "throughput_per_s": len(done) / wall_ms * 1000 if wall_ms else None,
        "over_block_share": slow / len(innocents) if innocents else None,
        "blocks_on_busiest_loop": max(on_loops.values(), default=0),
        "blocks_by_loop": dict(sorted(on_loops.items())),
    }


def _line(s: Settings, o: Outcome) -> str:
    innocents = sorted(x.latency_ms for x in o.samples if x.series == "normal" and x.cls == OK)
    shown = [(name, percentile(innocents, share)) for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))]
    times = ", ".join(f"{name} {ms:,.1f}" for name, ms in shown if ms is not None)
    to = f" to {s['offload_pool_size']}" if s["where"] == "offload" else ""
    head = f"{WORDS[str(s['where'])]}{to}, {s['loops']} loops"
    if s["server"] == "webflux":
        return f"{head} of WebFlux, {s['rate_per_s']:g} req/s: {len(innocents):,} innocents, {times} ms"
    wall = f"wall {o.facts['wall_ms']:,.0f} ms (theory {o.facts['predicted_wall_ms']:,.0f})"
    return (
        f"{head}, {s['assignment']}: {len(innocents):,} innocents, {times} ms; "
        f"{wall}, {o.facts['throughput_per_s'] or 0:,.0f} req/s"
    )


def _held(s: Settings) -> str:
    return f"innocents hold a loop for {s['normal_us']} us by {'spinning' if s['hold'] == 'spin' else 'parking'}"


def _limits(s: Settings) -> None:
    if s["server"] == "webflux":
        if s["assignment"] != "random":
            raise limits.not_together(
                f"assignment={s['assignment']}", "server=webflux", "Reactor Netty deals the connections", "server=plain"
            )
        offered = float(s["rate_per_s"]) * float(s["duration_s"])
        limits.refuse_above("rate_per_s", offered, 200_000, "a run sends, in requests,")
    elif s["where"] == "r2dbc":
        raise limits.not_together("where=r2dbc", "server=plain", "the plain loops have no database", "server=webflux")
    threads = float(s["loops"]) + (float(s["offload_pool_size"]) if s["where"] == "offload" else 0)
    limits.refuse_above("loops and offload_pool_size together", threads, limits.threads(), "one JVM may have")
    if s["server"] == "plain":
        wall = float(model(s)["wall_ms"])
        limits.refuse_above("requests, blocking_share and block_ms together", wall, 120_000, "a run lasts, in ms,")


# -- eager-or-deferred, innocent-looking: when does a call run, and who notices? ---------------------------------


def _measure_assembly(bench: Bench, _s: Settings) -> Outcome:
    app = bench.app("webflux")
    return Outcome(facts={"rows": app.get("/assembly")["rows"]}, in_force=app.settings())


def _measure_innocent(bench: Bench, s: Settings) -> Outcome:
    app = bench.app("webflux", blockhound=True)
    rows = []
    for number, call in enumerate(INNOCENT):
        bench.check_stop()
        bench.progress(number / len(INNOCENT), f"calling {call}")
        app.get(f"/innocent/{call}", ms=1)
        app.delete("/blockhound")
        reply = app.get(f"/innocent/{call}", ms=s["block_ms"])
        reports = app.get("/blockhound")["reports"]
        rows.append(_row(call, reply, sorted({report["method"] for report in reports})))
    return Outcome(facts={"rows": rows}, in_force=app.settings())


def _row(call: str, reply: dict[str, Any], methods: list[str]) -> dict[str, Any]:
    held_ms = round((reply["ended_us"] - reply["started_us"]) / 1000, 1)
    seen = [".".join(method.split(".")[-2:]) for method in methods]
    return {
        "call": call,
        "ran_on": reply["thread"],
        "held_ms": held_ms,
        "detected": bool(methods),
        "method": ", ".join(seen),
    }


def _rows_line(name: str, *keys: str) -> Any:
    def line(_s: Settings, o: Outcome) -> str:
        return "; ".join(f"{row[name]}: {', '.join(str(row[key]) for key in keys)}" for row in o.facts["rows"])

    return line


def _usual_loops(s: Settings) -> int:
    return models.event_loops(2) if s["server"] == "webflux" else 8


CONTROLS = (
    Control("server", str, "plain", choices=("plain", "webflux"), help="plain loops, or a WebFlux server over HTTP"),
    Control("assignment", str, "random", choices=("random", "shared", "pinned"), help="how requests come to loops"),
    Control("where", str, "none", choices=("none", "onloop", "offload", "r2dbc"), help="where blocks are waited for"),
    Control("hold", str, "park", choices=("park", "spin"), help="how an innocent holds its loop"),
    Control("offload_pool_size", int, 64, "threads", 1, 512, help="threads that blocks are moved to"),
    Control("blocking_share", float, 0.01, low=0, high=1, help="the share of requests that block"),
    Control("block_ms", int, 100, "ms", 1, 10_000, help="how long each of them blocks"),
    Control("loops", int, _usual_loops, low=1, high=256, computed="8, and 4 on webflux", help="event loops"),
    Control("requests", int, 2000, low=10, high=20_000, help="requests at once (plain)"),
    Control("normal_us", int, 200, "us", 10, 100_000, help="how long an innocent asks for (plain)"),
    Control("rate_per_s", float, 500.0, "requests/s", 1, 5000, help="steady load (webflux)"),
    Control("duration_s", float, 3.0, "s", 0.5, 60, help="how long it lasts (webflux)"),
    Control("seed", int, 1, low=0, high=999_999_999, help="of what is drawn: loops (plain), who blocks (webflux)"),
)

EXPERIMENTS = (
    Experiment("one-percent", "What does one blocking request in a hundred do to the others?", "15_blocking_the_loop",
               _measure, _line, CONTROLS, model, _limits, ("normal", "blocking"),
               lambda s: "latency" if s["server"] == "webflux" else "stairs"),
    Experiment("eager-or-deferred", "When does the call run?", "15_blocking_the_loop", _measure_assembly,
               _rows_line("form", "calls_before_subscribe", "ran_on"), draw="rows"),
    Experiment("innocent-looking", "Which innocent-looking calls hold a loop, and which does BlockHound see?",
               "15_blocking_the_loop", _measure_innocent, _rows_line("call", "held_ms", "detected"),
               (Control("block_ms", int, 50, "ms", 1, 2000, help="how long whoever is called takes"),), draw="rows"),
)  # fmt: skip
