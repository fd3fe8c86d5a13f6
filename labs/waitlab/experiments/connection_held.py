"""connection-held: the thread may be free while the call hangs; is the connection to the database?

And error-after-commit: what a transaction that returns a Mono does with an error that comes later.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from waitlab import limits
from waitlab import models_webclient as models
from waitlab.controls import Control, Settings
from waitlab.experiments import trains
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.load.client import LoadResult
from waitlab.load.samples import OK, Sample
from waitlab.runs import Series
from waitlab.services import App

WORKERS = 200
ASKING = ("restclient", "webclient-block", "webclient-mono")


def _measure(bench: Bench, s: Settings) -> Outcome:
    named = ("cpus", "jdbc_pool_size", "connection_timeout_ms", "open_in_view")
    app, api = trains.servers(bench, pool_size=WORKERS, **{name: s[name] for name in named})
    trains.warm(bench, app, app.url + _path(s, "ok"), app.url + trains.USER, app.url + trains.FAST)
    held = app.get(_path({**s, "api_ms": 50}, "slow"))["connection_held_in_call"]
    trains.fill_pool(bench, app, min(int(s["jdbc_pool_size"]), WORKERS))
    in_force = app.settings() | {"same_clock": app.same_clock}
    one, client, notes = trains.measured(s, lambda: _once(bench, app, api, s))
    ceiling = models.held_throughput_per_s(int(s["jdbc_pool_size"]), float(s["api_ms"])) if held else None
    facts, result = {"connection_held": held, "ceiling_per_s": ceiling, **one.facts}, one.result
    return Outcome(result.samples, facts, in_force, client, result.t0, result.partial, notes)


def _once(bench: Bench, app: App, api: App, s: Settings) -> trains.Try:
    floor = trains.floor(bench, app.url, s)
    app.delete("/watch")
    result = trains.loaded(bench, _plan(app, s))
    died = trains.died(app, api, result)
    return trains.Try(result, floor, died or _watched(app.get("/watch"), result))


def _plan(app: App, s: Settings) -> Any:
    longest_s = min(10 + 3 * float(_model(s)["slow_wall_ms"]) / 1000, 600.0)
    return trains.plan(app.url + _path(s, "slow"), app.url + trains.USER, s, longest_s)


def _path(s: Settings, api: str) -> str:
    asked = {"boundary": s["boundary"], "client": s["client"], "id": 7, "api": api, "api_ms": s["api_ms"]}
    return trains.path("/user/arrivals", **asked)


def _watched(found: dict[str, Any], result: LoadResult) -> dict[str, Any]:
    """What the server saw of its pool, and when, ms after the plan's start; `pool_timeouts` count all so far."""
    ends = max((x.done_s or result.t0 for x in result.samples), default=result.t0)
    seen = found["samples"]
    inside = [i for i, us in enumerate(seen["at_us"]) if result.t0 <= us / 1e6 <= ends + 0.05]
    pool = {"at_ms": [round(seen["at_us"][i] / 1000 - result.t0 * 1000, 1) for i in inside]}
    for name in ("active", "waiting", "timeouts"):
        pool[name] = [seen[f"pool_{name}"][i] for i in inside]
    during = _while_calls_hang(pool, result.samples, result.t0)
    peaks = ("pool_active_peak", "pool_waiting_peak", "pool_timeouts", "connections_used", "held_ms_mean")
    return {name: found[name] for name in peaks} | {"pool_active_p50": during, "pool": pool}


def _while_calls_hang(pool: dict[str, list[Any]], samples: tuple[Sample, ...], t0_s: float) -> float | None:
    """The median of the connections taken, from the first slow call's sending to the last one's answer."""
    done = [x.done_s for x in samples if x.series == "slow" and x.cls == OK and x.done_s is not None]
    end_ms = (max(done) - t0_s) * 1000 if done else 0.0
    taken = [active for at, active in zip(pool["at_ms"], pool["active"], strict=True) if at <= end_ms]
    return float(median(taken)) if taken else None


def _model(s: Settings) -> dict[str, Any]:
    """What must come out: with a connection held the pool is the limit, else nothing is."""
    api_ms, patience, pool = float(s["api_ms"]), float(s["connection_timeout_ms"]), int(s["jdbc_pool_size"])
    held = models.holds_connection(str(s["boundary"]), str(s["client"]), open_in_view=bool(s["open_in_view"]))
    found = trains.queue(s, pool if held else float("inf"), api_ms, patience)
    slow = [start for start in found["slow"] if start is not None]
    gone = sum(start is None for start in (*found["slow"], *found["user"]))
    wall = max(slow, default=0.0) + api_ms
    return {
        "connection_held": held,
        "pool_timeouts": gone,
        "slow_ok": len(slow),
        "slow_wall_ms": wall,
        "slow_throughput_per_s": len(slow) / wall * 1000,
        "ceiling_per_s": models.held_throughput_per_s(pool, api_ms) if held else None,
        "curve": trains.curve(s, found["user"]),
    }


def _line(s: Settings, o: Outcome) -> str:
    view = ", open-in-view" if s["open_in_view"] else ""
    head = f"{s['boundary']}{view}, {s['client']}, {s['users']:,} users, pool {s['jdbc_pool_size']}"
    parts = [trains.tally(o.samples, "slow")] + ([trains.tally(o.samples, "user")] if s["user_calls"] else [])
    if "pool_timeouts" in o.facts:
        held = "held" if o.facts["connection_held"] else "not held"
        rate = Series("slow", tuple(x for x in o.samples if x.series == "slow")).throughput_per_s or 0.0
        parts.append(f"connection {held} during the call, {o.facts['pool_timeouts']} time-outs at the pool")
        parts[-1] += f", {rate:.1f} boards a second"
    return f"{head}: {'; '.join(parts)}"


def _limits(s: Settings) -> None:
    limits.refuse_above("jdbc_pool_size", float(s["jdbc_pool_size"]), limits.jdbc_connections(), "the database leaves")
    both = float(s["users"]) + float(s["user_calls"])
    limits.refuse_above("users and user_calls together", both, limits.descriptors(), "one client may hold connections:")
    longest = float(_model(s)["slow_wall_ms"])
    limits.refuse_above("users, ramp_s and api_ms together", longest, 120_000, "a run lasts, in ms,")
    if int(s["jdbc_pool_size"]) < _connections_each(s):
        why = "with open_in_view=true the second transaction of webclient-mono needs a second connection"
        raise limits.not_together("jdbc_pool_size=1", "boundary=split", why, "jdbc_pool_size=2 or more")
    if s["boundary"] == "osiv" and not s["open_in_view"]:
        why = "this way is the one in which the session stays open"
        raise limits.not_together("open_in_view=false", "boundary=osiv", why, "boundary=split")


def _connections_each(s: Settings) -> int:
    """Connections that a request has at once: the view keeps its own while a Mono's second transaction has another."""
    return 2 if s["open_in_view"] and s["boundary"] == "split" and s["client"] == "webclient-mono" else 1


# -- error-after-commit --------------------------------------------------------------------------------------------


def _measure_error(bench: Bench, s: Settings) -> Outcome:
    app, _ = trains.servers(bench, cpus=s["cpus"])
    rows = []
    for client in ASKING:
        bench.check_stop()
        found = app.post("/tickets", client=client)
        failed = found["failed"].partition(":")[0].partition(" from ")[0]
        told = {name: found[name] for name in ("rows_before", "rows_after", "kept")}
        rows.append({"client": client, "failed": failed, **told})
    return Outcome(facts={"rows": rows}, in_force=app.settings())


def _error_line(_s: Settings, o: Outcome) -> str:
    became = {True: "kept", False: "rolled back"}
    return "; ".join(f"{row['client']}: the row is {became[row['kept']]}" for row in o.facts["rows"])


CONTROLS = (
    Control("boundary", str, "split", choices=("split", "transaction", "osiv"), help="what is open during the call"),
    Control("open_in_view", bool, lambda s: s["boundary"] == "osiv", computed="true with osiv",
            help="keep the session to the end of the request"),
    Control("client", str, "restclient", choices=trains.CLIENTS, help="who asks the API"),
    Control("users", int, 50, low=1, high=trains.USERS_MOST, help="calls that read a user, then ask the API"),
    trains.RAMP,
    Control("api_ms", int, 1000, "ms", 50, 30_000, help="how long the API takes"),
    Control("jdbc_pool_size", int, 10, "connections", 1, 1000, help="JDBC connections"),
    Control("connection_timeout_ms", int, 1500, "ms", 250, 60_000, help="how long to wait for a connection"),
    trains.USER_CALLS,
    trains.CPUS,
)  # fmt: skip

EXPERIMENTS = (
    Experiment("connection-held", "The thread is free; is the connection?", "lab_webclient", _measure, _line, CONTROLS,
               _model, _limits, ("slow", "user"), "connections"),
    Experiment("error-after-commit", "What becomes of a row when the call after it fails?", "lab_webclient",
               _measure_error, _error_line, (trains.CPUS,), draw="rows"),
)  # fmt: skip
