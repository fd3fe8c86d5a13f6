"""What the WebClient lab's experiments share: two servers, slow calls and a bystander's, and the client's judge.

`mvc` asks, `webflux` is the slow API, which holds no thread of ours while it waits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from waitlab import models_webclient as models
from waitlab.controls import Control, Settings, Value
from waitlab.load.plans import Plan, Stream, burst, spaced
from waitlab.load.samples import OK, Sample
from waitlab.load.verdict import P99_NEEDS, burst_verdict, median_ms, steady_verdict
from waitlab.runs import percentile

if TYPE_CHECKING:
    from waitlab.experiments.base import Bench
    from waitlab.load.client import LoadResult
    from waitlab.services import App

CLIENTS = ("resttemplate", "restclient", "webclient-block", "webclient-mono")
USER = "/user?id=7"
HEAD, TAIL = 0.15, 0.95
"""The bystander calls between these shares of the API's time."""
MOST_TRIES = 3
WARM_CALLS, WARM_ROUNDS = 20, 3
_warmed: set[tuple[object, ...]] = set()

USERS_MOST, CALLS_MOST = 2000, 2000
RAMP = Control("ramp_s", float, 0.0, "s", 0, 60, help="over how long they come; 0: all at once")
USER_CALLS = Control("user_calls", int, 100, low=0, high=CALLS_MOST, help="calls to the user API meanwhile")
CPUS = Control("cpus", int, 2, low=1, high=64, help="processors each JVM is told it has")


def servers(bench: Bench, **settings: Value) -> tuple[App, App]:
    """The MVC app with these settings, and the slow API that it has been told of."""
    api = bench.app("webflux")
    app = bench.app("mvc", trains=True, **settings)
    app.put("/api", url=api.url)
    return app, api


def door(app: App, s: Settings, in_force: dict[str, Any]) -> str:
    """The address behind which the asked kind of thread works: both kinds serve in one JVM, on two ports."""
    if s.get("threads") != "virtual":
        return app.url
    return f"http://{urlsplit(app.url).hostname}:{in_force['virtual_port']}"


def path(endpoint: str, **asked: object) -> str:
    """An endpoint with what it is asked."""
    return f"{endpoint}?{urlencode(asked)}"


def warm(bench: Bench, app: App, *urls: str) -> None:
    """Unmeasured bursts to these addresses, once for each server and address."""
    fresh = [url for url in urls if (bench.lab.lab_id, app.pid, url) not in _warmed]
    for _ in range(WARM_ROUNDS if fresh else 0):
        bench.progress(0.0, "warming up")
        bench.unmeasured(Plan(tuple(Stream(f"warm {n}", url, burst(WARM_CALLS)) for n, url in enumerate(fresh))))
    _warmed.update((bench.lab.lab_id, app.pid, url) for url in fresh)


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


def floor(bench: Bench, url: str, users: int) -> LoadResult:
    """The same burst at no work: what the client and the connections cost."""
    return bench.unmeasured(Plan((Stream("floor", url, burst(users)),)))


def judged(s: Settings, result: LoadResult, lowest: LoadResult | None) -> dict[str, Any]:
    """The client's facts: the bystander's calls judged as steady load, the slow ones by the floor of their burst."""
    facts = dict(result.client)
    slow = [x for x in result.samples if x.series == "slow"]
    steady = result.samples if s["ramp_s"] else [x for x in result.samples if x.series == "user"]
    verdict = steady_verdict(steady, facts["cpu_share"])
    if lowest is None or not any(x.cls == OK for x in slow):
        return facts | {"saturated": verdict.void, "why": verdict.why}
    at_once = burst_verdict(slow, lowest.samples, facts["retransmits"])
    first = verdict if verdict.void else at_once
    return facts | {"saturated": first.void, "why": first.why, "floor_p50_ms": median_ms(lowest.samples)}


def tally(samples: Iterable[Sample], name: str) -> str:
    """A series in words: how many of how many, p50, and p99 of a hundred or more."""
    own = [x for x in samples if x.series == name]
    ok = sorted(x.latency_ms for x in own if x.cls == OK)
    p50, p99 = percentile(ok, 0.5), percentile(ok, 0.99)
    times = f", p50 {p50:,.0f}" if p50 is not None else ""
    times += f", p99 {p99:,.0f}" if p99 is not None and len(ok) >= P99_NEEDS else ""
    return f"{name} {len(ok)} of {len(own)} ok{times}{' ms' if times else ''}"
