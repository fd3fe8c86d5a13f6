"""What the WebClient lab's experiments share: two servers, slow calls and a bystander's, and the client's judge.

`mvc` asks, `webflux` is the slow API, which holds no thread of ours while it waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from waitlab import models_webclient as models
from waitlab.controls import Control, Settings, Value
from waitlab.experiments import warming
from waitlab.experiments.serving import check_alive, died_ms, until
from waitlab.load.plans import Plan, Stream, burst, spaced
from waitlab.load.samples import OK, Sample
from waitlab.load.verdict import (
    ALLOWED_LAG_MS,
    ALLOWED_LAG_SHARE,
    P99_NEEDS,
    burst_verdict,
    median_ms,
    steady_verdict,
)
from waitlab.runs import percentile

if TYPE_CHECKING:
    from waitlab.experiments.base import Bench
    from waitlab.load.client import LoadResult
    from waitlab.services import App

CLIENTS = ("resttemplate", "restclient", "webclient-block", "webclient-mono")
USER, FAST = "/user?id=7", "/fast"
HEAD, TAIL = 0.15, 0.95
"""The bystander calls between these shares of the API's time."""
MOST_TRIES, HURRY_S, FILLS, FILL_MS = 3, 30.0, 6, 300
WARM_CALLS, WARM_ROUNDS = 20, 3

LATE = "Void: the client sent late"
USERS_MOST, CALLS_MOST = 2000, 2000
RAMP = Control("ramp_s", float, 0.0, "s", 0, 60, help="over how long they come; 0: all at once")
USER_CALLS = Control("user_calls", int, 100, low=0, high=CALLS_MOST, help="calls to the user API meanwhile")
CPUS = Control("cpus", int, 2, low=1, high=64, help="processors each JVM is told it has")


@dataclass(frozen=True)
class Try:
    """One measurement: the load, the floor of its burst (None of a ramp), what the server said."""

    result: LoadResult
    floor: LoadResult | None
    facts: dict[str, Any] = field(default_factory=dict)


def servers(bench: Bench, **settings: Value) -> tuple[App, App]:
    """The MVC app with these settings, and the slow API that it has been told of."""
    api = bench.app("webflux")
    _let_go(bench)
    app = bench.app("mvc", trains=True, **settings)
    app.put("/api", url=api.url)
    return app, api


def _let_go(bench: Bench) -> None:
    """Ends the calls that still hang of a run that was stopped: they hold workers and connections of the next one."""
    running = bench.lab.running()
    app, api = running.get("mvc"), running.get("webflux")
    if app is None or api is None or not api.get("/external")["waiting"]:
        return
    bench.progress(0.0, "waiting for the calls that still hang")
    api.put("/external", hurry="true")
    try:
        until(lambda: not api.get("/external")["waiting"] and app.settings()["workers_busy"] <= 1, HURRY_S)
    finally:
        api.put("/external", hurry="false")


def loaded(bench: Bench, plan: Plan, what: str = "calls") -> LoadResult:
    """Drives the plan; of one that was stopped nothing hangs on the servers afterwards, so that they can be asked."""
    result = bench.load(plan, what)
    if result.partial:
        _let_go(bench)
    return result


def died(app: App, api: App, result: LoadResult) -> dict[str, Any]:
    """{} if both servers and the database live; else the facts of the one that died."""
    return died_ms(app, result) or died_ms(api, result)


def door(app: App, s: Settings, in_force: dict[str, Any]) -> str:
    """The address behind which the asked kind of thread works: both kinds serve in one JVM, on two ports."""
    if s.get("threads") != "virtual":
        return app.url
    return f"http://{urlsplit(app.url).hostname}:{in_force['virtual_port']}"


def path(endpoint: str, **asked: object) -> str:
    """An endpoint with what it is asked."""
    return f"{endpoint}?{urlencode(asked)}"


def warm(bench: Bench, app: App, own: str, *others: str) -> None:
    """Unmeasured bursts to the address that will be measured, and to the others, until medians agree roughly."""
    urls = (own, *others)
    plan = Plan(tuple(Stream(f"warm {n}", url, burst(WARM_CALLS)) for n, url in enumerate(urls)))
    warming.warm(bench, app, own, lambda: median_ms(warmed(bench, app, plan).samples), WARM_ROUNDS, warming.roughly)


def warmed(bench: Bench, app: App, plan: Plan) -> LoadResult:
    """One unmeasured round, after which the server and its database still live."""
    result = bench.unmeasured(plan)
    check_alive(app)
    return result


def fill_pool(bench: Bench, app: App, size: int) -> None:
    """Asks until the pool has so many connections: one that grew opens them only for callers that wait."""
    holds = path("/user/arrivals", boundary="transaction", client="restclient", api="slow", api_ms=FILL_MS)
    for _ in range(FILLS):
        if app.settings()["jdbc_connections"] >= size:
            return
        bench.unmeasured(Plan((Stream("warm pool", app.url + holds, burst(size)),)))


def user_at_s(s: Settings) -> tuple[float, ...]:
    """When the bystander calls, s: during the ramp, or while the burst hangs."""
    calls, ramp_s, api_s = int(s["user_calls"]), float(s["ramp_s"]), float(s["api_ms"]) / 1000
    if not calls:
        return ()
    if ramp_s:
        return spaced(calls, ramp_s / calls)
    return spaced(calls, (TAIL - HEAD) * api_s / calls, HEAD * api_s)


def plan(slow: str, user: str, s: Settings, longest_s: float) -> Plan:
    """The slow calls, and the bystander's beside them."""
    at = tuple(ms / 1000 for ms in models.arrivals_ms(int(s["users"]), float(s["ramp_s"])))
    streams = (Stream("slow", slow, at, longest_s), Stream("user", user, user_at_s(s), longest_s))
    return Plan(tuple(stream for stream in streams if stream.at_s), "steady" if s["ramp_s"] else "burst")


def queue(s: Settings, places: float, hold_ms: float, patience_ms: float) -> dict[str, list[float | None]]:
    """When slow calls and the bystander's get one of `places`, ms, by series: one queue, the slow ones first."""
    slow = [(at, "slow", hold_ms) for at in models.arrivals_ms(int(s["users"]), float(s["ramp_s"]))]
    user = [(at * 1000, "user", 0.0) for at in user_at_s(s)]
    ordered = sorted([*slow, *user], key=lambda one: one[0])
    starts = models.starts_ms([(at, hold) for at, _, hold in ordered], places, patience_ms)
    found: dict[str, list[float | None]] = {"slow": [], "user": []}
    for (_, name, _), start in zip(ordered, starts, strict=True):
        found[name].append(start)
    return found


def curve(s: Settings, starts: list[float | None]) -> dict[str, list[float]]:
    """Theory's line for the bystander: what a call waits that is sent at x, ms (x in s); without those that gave up."""
    pairs = [(at, start) for at, start in zip(user_at_s(s), starts, strict=True) if start is not None]
    return {"x": [at for at, _ in pairs], "y": [start - at * 1000 for at, start in pairs]}


def floor(bench: Bench, door: str, s: Settings) -> LoadResult | None:
    """The same burst at no work: what the client and the connections cost; None of a ramp."""
    return None if s["ramp_s"] else bench.unmeasured(Plan((Stream("floor", door + FAST, burst(int(s["users"]))),)))


def measured(s: Settings, once: Callable[[], Try]) -> tuple[Try, dict[str, Any], tuple[str, ...]]:
    """The first of MOST_TRIES that is not void, else the last; with the client's facts and what must be told.

    Where the run is long (a ramp), was stopped, or a server died, one try is all.
    """
    for attempt in range(1, MOST_TRIES + 1):
        one = once()
        again = (f"measured {attempt} times, since the client was slow",) if attempt > 1 else ()
        where = "which is in the bystander's times"
        client, notes = excused(judged(s, one), _late_ms(s, one), float(s["api_ms"]), where, again)
        if not client["saturated"] or one.result.partial or s["ramp_s"] or "server_died" in one.facts:
            break
    return one, client, notes


def judged(s: Settings, one: Try) -> dict[str, Any]:
    """The client's facts: the bystander's calls judged as steady load, the slow ones by the floor of their burst."""
    result, facts = one.result, dict(one.result.client)
    slow = [x for x in result.samples if x.series == "slow"]
    verdict = steady_verdict(_spaced(s, result), facts["cpu_share"])
    if one.floor is None or not any(x.cls == OK for x in slow):
        return facts | {"saturated": verdict.void, "why": verdict.why}
    at_once = burst_verdict(slow, one.floor.samples, facts["retransmits"])
    first = at_once if at_once.void else verdict
    return facts | {"saturated": first.void, "why": first.why, "floor_p50_ms": median_ms(one.floor.samples)}


def _spaced(s: Settings, result: LoadResult) -> list[Sample]:
    """The requests that were to be sent one after another: all of a ramp, else the bystander's."""
    return [x for x in result.samples if s["ramp_s"] or x.series == "user"]


def _late_ms(s: Settings, one: Try) -> float:
    """How late the client sent, p99, ms."""
    return percentile(sorted(x.lag_ms for x in _spaced(s, one.result)), 0.99) or 0.0


def excused(
    client: dict[str, Any], late_ms: float, hang_ms: float, where: str, notes: tuple[str, ...] = ()
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A lateness that is small beside `hang_ms` is told, and does not make the run void.

    The rule for steady load measures it by the median, a few ms for whoever waits for nothing. What is to be seen here
    is whether somebody waits as long as the API hangs, and a late sending can only add to a latency.
    """
    late = client["saturated"] and client["why"].startswith(LATE)
    if not late or late_ms > ALLOWED_LAG_MS + ALLOWED_LAG_SHARE * hang_ms:
        return client, notes
    said = f"the client sent up to {late_ms:.0f} ms late (p99), {where}"
    return client | {"saturated": False, "why": ""}, (*notes, said)


def tally(samples: Iterable[Sample], name: str) -> str:
    """A series in words: how many of how many, p50, and p99 of a hundred or more."""
    own = [x for x in samples if x.series == name]
    ok = sorted(x.latency_ms for x in own if x.cls == OK)
    p50, p99 = percentile(ok, 0.5), percentile(ok, 0.99)
    times = f", p50 {p50:,.0f}" if p50 is not None else ""
    times += f", p99 {p99:,.0f}" if p99 is not None and len(ok) >= P99_NEEDS else ""
    return f"{name} {len(ok):,} of {len(own):,} ok{times}{' ms' if times else ''}"
