"""What a chart says in words: names, the caption under a figure, its summary for those who cannot see it.

Everything here is plain text; `safe` is for figures (which know a little markup), `html.escape` for HTML.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from waitlab import experiments
from waitlab.charts.palette import NAMED_BY, approach
from waitlab.predictions import Prediction, main_series, show, verdict
from waitlab.runs import Run, Series

_LIMITS = (
    "cpus", "available_processors", "event_loops", "accept", "accepting_thread", "bounded_elastic_size",
    "offload_pool_size", "pool_size", "gate", "capacity", "jdbc_pool_size", "r2dbc_pool_size", "connection_timeout_ms",
    "open_in_view", "client_connections", "jdk_client_connections", "timeout_ms", "window", "wait_open_ms",
    "heap_max_mb", "gc",
)  # fmt: skip


_OF_A_RATE = ("rate_per_s", "duration_s")
_UNTOLD = ("thread_dump", "duration_s")
_CALLED: dict[str, dict[Any, str]] = {
    "server": {"tomcat": "Tomcat", "plain": "bare server"},
    "model": {"request": "a thread a request", "connection": "a thread a connection"},
    "in_parallel": {False: "calls in a row", True: "calls at once"},
    "gate_at": {"door": "before the thread", "inside": "on the thread"},
    "on_full": {"wait": "full: wait", "reject": "full: turned away"},
    "factory": {"jdk": "", "detected": "on Reactor Netty"},
    "open_in_view": {False: "open-in-view off", True: "open-in-view on"},
}
_COUNTED = {
    "rate_per_s": "req/s", "service_ms": "ms of service", "cpu_ms": "ms of computing", "users": "users",
    "idle_connections": "silent connections", "payload_kb": "kB each",
}  # fmt: skip
MANY_RUNS = 8
"""More Runs than this are not told one by one."""
_FROM = "Latency counts from the moment a request should have been sent."
_SAID = dict.fromkeys(("latency", "stairs", "percentiles", "timeline", "by_arrival", "valve", "stacks"), _FROM) | {
    "in_flight": "In flight is a request that owns a live thread; one in a pool's queue does not.",
    "heap": "Garbage counts until it is collected; what is alive is what the one collection left, and no peak.",
    "computing": "All crews take turns in one JVM, after rounds that warm it up.",
}
"""What is said under each figure of a kind."""
_AT_A_RATE = ("steady", "poisson", "constant")


def safe(text: object, most: int = 60) -> str:
    """Text from elsewhere for a figure: no markup, no line breaks, at most `most` characters."""
    plain = " ".join(str(text).split())
    plain = plain if len(plain) <= most else plain[: most - 1] + "…"
    return html.escape(plain, quote=False)


def differing(runs: Sequence[Run]) -> list[str]:
    """The settings in which these Runs differ."""
    steady = any(run.settings.get("arrivals") in _AT_A_RATE for run in runs)
    names = dict.fromkeys(name for run in runs for name in run.settings if steady or name not in _OF_A_RATE)
    several = [name for name in names if len({str(run.settings.get(name)) for run in runs}) > 1]
    return [name for name in several if name not in _UNTOLD and not all(_follows(run, name) for run in runs)]


def _follows(run: Run, name: str) -> bool:
    """Whether a setting is only what another one makes of it: a computed default that nobody touched."""
    experiment = experiments.known().get(run.experiment)
    control = next((c for c in experiment.controls if c.name == name), None) if experiment else None
    return control is not None and callable(control.default) and control.default(run.settings) == run.settings[name]


def label(run: Run, runs: Sequence[Run]) -> str:
    """A short name for a Run among others: what sets it apart, and what must be known about it."""
    who = crew(run.settings)
    named = [str(run.settings["client"])] if "factory" in run.settings else []
    apart = [text for text in dict.fromkeys([*named, *(_setting(run, n, who) for n in differing(runs))]) if text][:3]
    text = ", ".join(apart) or who or approach(run.settings) or run.experiment
    alike = [other for other in runs if other.settings == run.settings and other.experiment == run.experiment]
    if len(alike) > 1:
        text += f", run {next(i for i, other in enumerate(alike, 1) if other is run)}"
    return safe(text + "".join(f" ({mark})" for mark in marks(run)), 70)


def marks(run: Run) -> list[str]:
    """What must be said wherever a Run is shown: void, stopped early, recorded."""
    said = {"void": run.void, "stopped early": run.partial, "recorded": not run.live}
    return [mark for mark, true in said.items() if true]


def percentiles(series: Series) -> str:
    """p50, p90, p99 (where there are 100 samples) and the slowest of a series, ms."""
    named = {"p50": series.p50_ms, "p90": series.p90_ms, "p99": series.p99_ms, "max": series.max_ms}
    return ", ".join(f"{name} {show(value)}" for name, value in named.items() if value is not None)


def tally(series: Series) -> str:
    """A series in words: how many, how many failed and how, percentiles of the successes."""
    failed = "".join(f", {count} {name.replace('_', ' ')}" for name, count in series.errors.items())
    if series.name == "floor" and not failed:
        return f"floor p50 {show(series.p50_ms)} ms"
    numbers = percentiles(series)
    return f"{series.name}: {series.ok} of {series.offered} ok{failed}{f'; {numbers} ms' if numbers else ''}"


def conditions(run: Run) -> str:
    """Where a Run comes from: live or recorded with its date, runtime, CPUs."""
    day = run.started_at[:10]
    source = "measured here" if run.live else f"recorded {day}"
    cpus = run.machine.get("cpus")
    machine = f"on a machine with {cpus} CPUs" if cpus else ""
    return " ".join(filter(None, [source, f"({run.runtime})", machine]))


def warnings(run: Run) -> list[str]:
    """What must be known about a Run's figures: void, stopped early, its own remarks."""
    said = {
        "VOID: the client, not the server, was the bottleneck": run.void,
        "stopped early, so the figures are partial": run.partial,
    }
    return [*(text for text, true in said.items() if true), *run.notes]


def limits(run: Run, runs: Sequence[Run], *, shared: bool) -> str:
    """The limits in force that these Runs share, or those that are this Run's own."""
    known = {name: run.in_force[name] for name in _LIMITS if run.in_force.get(name) not in (None, "")}
    chosen = [n for n, value in known.items() if all(o.in_force.get(n) == value for o in runs) == shared]
    listed = ", ".join(f"{name} {_short(known[name])}" for name in chosen)
    return listed if shared or not listed else f"in force: {listed}"


def caption(runs: Sequence[Run], guesses: Iterable[Prediction] = (), also: Iterable[str] = ()) -> list[str]:
    """The lines under a figure: Runs, limits in force, conditions, guesses, remarks; equal ones once."""
    lines = [f"{len(runs)} runs; the data below has a row for each."] if len(runs) > MANY_RUNS else []
    for run in runs if len(runs) <= MANY_RUNS else ():
        counted = "; ".join(tally(series) for series in run.series.values() if series.offered)
        own = [limits(run, runs, shared=False), conditions(run) if not _alike(runs, conditions) else ""]
        own += warnings(run)
        who = [html.unescape(label(run, runs))] if len(runs) > 1 else []
        told = "; ".join(part for part in [counted, *own] if part)
        lines += [": ".join([*who, told])] if told else []
    shared = limits(runs[0], runs, shared=True)
    lines += [f"In force, as the server reports it: {shared}."] if shared else []
    lines += [f"Conditions: {conditions(runs[0])}."] if _alike(runs, conditions) else []
    lines += [verdict(guess, runs[0]) for guess in guesses]
    return [line for line in [*lines, *also] if line]


def summary(title: str, runs: Sequence[Run], theory: str = "", sentences: Sequence[str] = ()) -> str:
    """One paragraph that says what the figure shows, for a reader who cannot see it: `sentences`, else each tally."""
    lines = [f"{title}.", *sentences]
    for run in () if sentences else runs:
        series = main_series(run)
        if series is not None and len(runs) <= MANY_RUNS:
            lines.append(f"{html.unescape(label(run, runs))}: {tally(series)}.")
        elif "queue_by_stage" in run.facts:
            lines.append(f"{run.line}.")
    return " ".join([*lines, *([theory] if theory else [])])


def remarks(kind: str, runs: Sequence[Run]) -> list[str]:
    """What a reader must know about how a kind of chart was drawn."""
    one_clock = all(run.in_force.get("same_clock") for run in runs)
    if kind == "timeline" and not one_clock:
        return ["Waiting and being served cannot be told apart: the server's clock may not be the client's."]
    if kind == "pressure":
        return [run.line for run in runs]
    if kind == "queues":
        return [f"{html.unescape(label(run, runs))}: first limit {_limit(run)}" for run in runs]
    if kind == "throughput":
        return ["Throughput counts successes only, from the first intended send to the last end."]
    return [_SAID[kind]] if kind in _SAID else []


def _limit(run: Run) -> str:
    """The limit that was hit first, and why."""
    return f"{run.facts.get('first_limit')} ({run.facts.get('why', 'the server died')})."


def theory(runs: Sequence[Run]) -> str:
    """What the model of the first Run predicts, in words."""
    facts = [(name, value) for name, value in runs[0].model.items() if isinstance(value, int | float)]
    told = ", ".join(f"{name} {show(value)}" for name, value in facts)
    return f"Theory predicts {told}." if told else ""


def crew(settings: Mapping[str, Any]) -> str:
    """Who serves, where a pool of platform threads or virtual threads do; else ""."""
    if "pool_size" not in settings or "client" in settings:
        return ""
    pool = f"{settings['pool_size']:,} platform thread{'s' * (settings['pool_size'] != 1)}"
    return {"platform": pool, "fixed": pool, "virtual": "virtual threads"}.get(str(settings.get("threads")), "")


def _setting(run: Run, name: str, who: str = "") -> str:
    if who and name in ("threads", "pool_size"):
        return who
    found = run.settings.get(name, "unset")
    value = _short(found)
    if name in ("gate", "on_full", "gate_at"):
        return _gate(run.settings, name)
    if name == "threads" and "client" in run.settings:
        return "virtual threads" if found == "virtual" else ""
    if name in _CALLED:
        return _CALLED[name].get(found, value)
    if name in _COUNTED:
        return f"{found:,} {_COUNTED[name]}" if isinstance(found, int) else f"{value} {_COUNTED[name]}"
    return value if name in NAMED_BY else f"{name} {value}"


def _gate(settings: Mapping[str, Any], name: str) -> str:
    """A gate and what becomes of whom finds it full; nothing where there is none."""
    if name == "gate":
        return f"gate {settings['gate']:,}" if settings["gate"] else "no gate"
    return _CALLED[name][settings[name]] if settings.get("gate") else ""


def _alike(runs: Sequence[Run], told: Callable[[Run], str]) -> bool:
    return len({told(run) for run in runs}) == 1


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping | list | tuple):
        return f"{len(value)} of them"
    return show(value) if isinstance(value, float) else str(value)
