"""client-styles: four clients behind one controller, and what each does with the thread that asked.

Before the measured run one wave of calls is held and looked at: a thread dump costs processor time, which belongs
neither into the bystander's latency nor into the processor time of a request.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import Any

from waitlab import limits
from waitlab import models_webclient as models
from waitlab.controls import Control, Settings
from waitlab.experiments import frames, trains
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.experiments.serving import until
from waitlab.experiments.warming import warm
from waitlab.load.client import LoadResult
from waitlab.load.plans import Plan, Stream, burst
from waitlab.load.samples import OK
from waitlab.runs import percentile
from waitlab.services import App

LOOK_MS, LOOKS, ALL_THERE_S = 2500, 3, 2.0
WARM_CALLS, WARM_MS, WARM_ROUNDS, STEADY = 200, 300, 10, 0.9
MOMENT_S, IDLE_SHARE, IDLE_WITHIN_S = 0.2, 0.15, 4.0


def _measure(bench: Bench, s: Settings) -> Outcome:
    app, api = trains.servers(bench, cpus=s["cpus"], pool_size=s["pool_size"])
    in_force = app.settings() | {"same_clock": app.same_clock}
    door = trains.door(app, s, in_force)
    cold = _warm(bench, app, door, s)
    seen = _look(bench, app, api, door, s) if s["thread_dump"] else {}
    one, client, notes = trains.measured(s, lambda: _once(bench, app, api, door, s))
    result = one.result
    return Outcome(result.samples, seen | one.facts, in_force, client, result.t0, result.partial, cold + notes)


def _warm(bench: Bench, app: App, door: str, s: Settings) -> tuple[str, ...]:
    """Waves of calls that hang for a while, beside others, until a request costs no less processor time; a note if not.

    The compiler takes most of that time at first, and goes on when the answers are there.
    """
    own = door + _path({**s, "api_ms": WARM_MS}, "slow")
    some = [Stream(f"warm {url}", door + url, burst(WARM_CALLS // 4)) for url in (trains.USER, trains.FAST)]
    plan = Plan((Stream("warm", own, burst(min(_wave(s), WARM_CALLS))), *some))

    def once() -> float:
        before_ms = _cpu_ms(app)
        bench.unmeasured(plan)
        until(lambda: _idle(app, bench.stop), IDLE_WITHIN_S)
        bench.check_stop()
        return (_cpu_ms(app) - before_ms) / plan.offered

    return warm(bench, app, own, once, WARM_ROUNDS, lambda before, last: last > STEADY * before)


def _cpu_ms(app: App) -> float:
    """The processor time that the server has used so far."""
    return float(app.get("/cpu")["process_cpu_us"]) / 1000


def _idle(app: App, stop: threading.Event) -> bool:
    """Whether the server used hardly any processor time for a moment: its compiler is done. Or Stop was pressed."""
    before_ms = _cpu_ms(app)
    return stop.wait(MOMENT_S) or _cpu_ms(app) - before_ms < IDLE_SHARE * MOMENT_S * 1000


def _once(bench: Bench, app: App, api: App, door: str, s: Settings) -> trains.Try:
    """The floor and the load, with the JVM's own count of threads and of processor time around the load."""
    floor = trains.floor(bench, door, s)
    app.delete("/threads/peak")
    before_ms = _cpu_ms(app)
    plan = trains.plan(door + _path(s, "slow"), door + trains.USER, s, _longest_s(s))
    result = trains.loaded(bench, plan)
    died = trains.died(app, api, result)
    return trains.Try(result, floor, died or _counted(app, before_ms, result))


def _counted(app: App, before_ms: float, result: LoadResult) -> dict[str, Any]:
    cpu_ms = _cpu_ms(app) - before_ms
    peak = app.get("/threads/peak")
    answered = sum(x.cls == OK for x in result.samples)
    return {
        "live_threads_peak": peak["platform_threads_peak"],
        "threads_added": peak["platform_threads_peak"] - peak["platform_threads_baseline"],
        "cpu_ms_per_request": cpu_ms / answered if answered else None,
    }


def _look(bench: Bench, app: App, api: App, door: str, s: Settings) -> dict[str, Any]:
    """One dump while as many calls hang as may at a time; another one only if some had ended before it was written."""
    wave = _wave(s)
    app.delete("/threads/peak")
    stream = Stream("look", door + _path({**s, "api_ms": LOOK_MS}, "slow"), burst(wave))
    for _ in range(LOOKS):
        with ThreadPoolExecutor(1) as aside:
            held = aside.submit(bench.unmeasured, Plan((stream,)))
            bench.progress(0.0, "looking at the threads")
            until(lambda: held.done() or api.get("/external")["waiting"] >= wave, ALL_THERE_S)  # noqa: B023
            dump = app.threads()
            hung = int(api.get("/external")["waiting"])
            held.result()
        if hung >= wave:
            break
    busy, table = frames.busy(dump), frames.table(dump)
    return {
        "calls_hanging": hung,
        "exec_busy_peak": len(busy),
        "exec_waiting_in_block_peak": len(frames.in_block(dump)),
        "exec_waiting_in_jdk_client_peak": frames.counted(table, frames.EXEC, frames.ANSWER),
        "exec_threads": frames.counted(table, frames.EXEC),
        "virtual_busy": len(frames.busy(dump, frames.VIRTUAL)),
        "threads": table,
    }


def _path(s: Settings, api: str) -> str:
    asked = {"client": s["client"], "factory": s["factory"], "api": api, "api_ms": s["api_ms"]}
    return trains.path("/arrivals", **asked)


# -- theory --------------------------------------------------------------------------------------------------------


def _waits(s: Settings) -> bool:
    """Whether the thread that asked waits for the answer."""
    return s["client"] != "webclient-mono"


def _workers(s: Settings) -> float:
    """Threads that limit how many calls hang; no limit where none waits, or where threads cost nothing.

    Nothing else limits them: in this app the connections of all four clients are more than there can be calls.
    """
    return float(s["pool_size"]) if _waits(s) and s["threads"] == "platform" else inf


def _wave(s: Settings) -> int:
    hanging = models.in_flight(int(s["users"]), float(s["ramp_s"]), float(s["api_ms"]))
    return max(1, int(min(round(hanging), _workers(s))))


def _longest_s(s: Settings) -> float:
    """When a request gives up: three times what theory says, and ten seconds."""
    return min(10 + 3 * float(_model(s)["slow_wall_ms"]) / 1000, 600.0)


def _model(s: Settings) -> dict[str, Any]:
    api_ms = float(s["api_ms"])
    slow = [start or 0.0 for start in trains.queue(s, _workers(s), api_ms, inf)["slow"]]
    user = trains.queue(s, _workers(s), api_ms, inf)["user"]
    waits = sorted(trains.curve(s, user)["y"])
    wall = max(slow) + api_ms
    held = _wave(s) if _waits(s) and s["threads"] == "platform" else 0
    return {
        "calls_hanging": _wave(s),
        "exec_busy_peak": held,
        "exec_waiting_in_block_peak": held if _blocks_in_mono(s) else 0,
        "slow_wall_ms": wall,
        "slow_throughput_per_s": int(s["users"]) / wall * 1000 if wall else None,
        "user_p50_ms": percentile(waits, 0.5),
        "user_p99_ms": percentile(waits, 0.99),
        "curve": trains.curve(s, user),
    }


def _blocks_in_mono(s: Settings) -> bool:
    return s["client"] == "webclient-block" or (_waits(s) and s["factory"] == "detected")


# -- words and refusals --------------------------------------------------------------------------------------------


def _line(s: Settings, o: Outcome) -> str:
    tells = [f"{_asked(s)}: {trains.tally(o.samples, 'slow')}"]
    tells += [trains.tally(o.samples, "user")] if s["user_calls"] else []
    if "exec_threads" in o.facts and s["threads"] == "platform":
        tells.append(f"{o.facts['exec_busy_peak']} of {o.facts['exec_threads']} Tomcat threads busy")
    if "live_threads_peak" in o.facts:
        kind = "live" if s["threads"] == "platform" else "platform"
        tells.append(f"{o.facts['live_threads_peak']:,} {kind} threads")
        cpu = o.facts["cpu_ms_per_request"]
        tells += [] if cpu is None else [f"{cpu:.1f} ms of CPU a request"]
    return "; ".join(tells)


def _asked(s: Settings) -> str:
    named = {
        str(s["client"]): True,
        "on Reactor Netty": s["factory"] == "detected",
        "virtual threads" if s["threads"] == "virtual" else f"{s['pool_size']:,} threads": True,
        f"{s['users']:,} users {'at once' if not s['ramp_s'] else f'''in {s['ramp_s']:g} s'''}": True,
        f"API {s['api_ms']:,} ms": s["api_ms"] != 2000,
    }
    return ", ".join(words for words, said in named.items() if said)


def _limits(s: Settings) -> None:
    limits.refuse_above("pool_size", float(s["pool_size"]), limits.threads(), "one JVM may have")
    both = float(s["users"]) + float(s["user_calls"])
    limits.refuse_above("users and user_calls together", both, limits.descriptors(), "one client may hold connections:")
    longest = float(_model(s)["slow_wall_ms"])
    limits.refuse_above("users, ramp_s and api_ms together", longest, 300_000, "a run lasts, in ms,")
    if s["factory"] == "detected" and str(s["client"]).startswith("webclient"):
        why = "WebClient always has Reactor Netty underneath"
        raise limits.not_together("factory=detected", f"client={s['client']}", why, "client=restclient")


CONTROLS = (
    Control("client", str, "resttemplate", choices=trains.CLIENTS, help="who asks the API"),
    Control("threads", str, "platform", choices=("platform", "virtual"), help="which kind serves"),
    Control("factory", str, "jdk", choices=("jdk", "detected"), help="what RestTemplate and RestClient run on"),
    Control("users", int, 200, low=1, high=trains.USERS_MOST, help="slow calls"),
    trains.RAMP,
    Control("api_ms", int, 2000, "ms", 50, 30_000, help="how long the API takes"),
    Control("pool_size", int, 200, "threads", 1, 2000, help="Tomcat's worker threads"),
    trains.USER_CALLS,
    trains.CPUS,
    Control("thread_dump", bool, True, help="hold one wave first and look at the threads"),
)

EXPERIMENTS = (
    Experiment("client-styles", "Who waits while a slow API is asked?", "lab_webclient", _measure, _line, CONTROLS,
               _model, _limits, ("slow", "user"), "states"),
)  # fmt: skip
