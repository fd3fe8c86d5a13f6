"""Chapter 18's experiments on the plain JVM: a crowd at once and who lets it in; work that only computes.

What a crowd's JVM prints is read in rush.py; computing.py holds all of `cpu-bound`.
"""

from __future__ import annotations

import time
from typing import Any

from waitlab import limits, models_18
from waitlab.controls import Control, Settings
from waitlab.errors import MainEnded, ServiceDied, ServiceError
from waitlab.experiments import computing, rush
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.experiments.deaths import DATABASE_DIED, Cut, database_gone
from waitlab.experiments.serving import NO_CLIENT, death, until
from waitlab.runs import percentile
from waitlab.services.app import on_one_clock

CHAPTER = "18_choosing"
LONGEST_MS = 120_000
SPARE_HEAP = 0.6
"""The share of the heap that the requests' data may take, unless `force` says otherwise."""
SPARE_MEMORY = 0.6
USABLE_HEAP = 0.9
"""The serial collector keeps one of two survivor spaces to itself, which the JVM does not count."""
PATIENCE, DEATH_IS_KNOWN_S = 3, 0.5
START_S = 20
CONNECTIONS_A_SECOND = 5  # that are opened at least, also on a busy machine
_ASKED = (
    "requests", "threads", "pool_size", "gate", "gate_at", "on_full", "downstream", "capacity", "downstream_limit",
    "hold_ms", "payload_kb",
)  # fmt: skip
_IN_FORCE = (
    "threads", "pool_size", "gate", "capacity", "heap_max_mb", "gc", "available_processors", "java",
)  # fmt: skip


# -- admission: many at once, and who lets how many of them in -----------------------------------------------------


def crowd(s: Settings) -> models_18.Crowd:
    """The crowd that these controls describe."""
    return models_18.Crowd(
        requests=int(s["requests"]),
        pool=int(s["pool_size"]) if s["threads"] == "fixed" else None,
        gate=int(s["gate"]) or None,
        inside=s["gate_at"] == "inside",
        reject=s["on_full"] == "reject",
        capacity=int(s["capacity"]),
        hold_ms=float(s["hold_ms"]),
        limit=int(s["downstream_limit"]) if s["downstream"] == "unguarded" else None,
    )


def model(s: Settings) -> dict[str, Any]:
    """What must come out at least, and the lines that charts draw."""
    asked = crowd(s)
    ends = models_18.ends_ms(asked)
    return {
        "wall_ms": ends[-1],
        "throughput_per_s": models_18.throughput_per_s(asked),
        "ceiling_per_s": models_18.ceiling_per_s(asked.capacity, asked.hold_ms),
        "p50_ms": percentile(ends, 0.5),
        "p99_ms": percentile(ends, 0.99),
        "served": len(ends),
        "dropped": asked.requests - asked.admitted,
        "refused": asked.admitted - len(ends),
        "in_flight_peak": models_18.in_flight(asked),
        "by_arrival": models_18.curve(ends),
        "in_flight": models_18.decline(asked),
    }


def _measure(bench: Bench, s: Settings) -> Outcome:
    bench.check_stop()
    bench.progress(0.0, "starting a JVM for the crowd")
    told, before = rush.Told(int(s["requests"]), bench.progress), time.monotonic()
    ended_by, after = _run(bench, s, told), time.monotonic()
    if not told.start_us:
        raise _nothing_told(ended_by, s)
    _check_in_force(s, told.in_force)
    in_force = {name: told.in_force[name] for name in _IN_FORCE}
    in_force["same_clock"] = on_one_clock(before, told.start_us / 1e6, after)
    if ended_by != rush.FINISHED and in_force["same_clock"]:
        told.cut_us = int(after * 1e6) - told.start_us
    facts = rush.facts(told, ended_by, s) | {"predicted_wall_ms": models_18.wall_ms(crowd(s))}
    if ended_by == rush.DATABASE_DIED:
        facts |= death(bench.lab.database_died_s(), DATABASE_DIED, told.start_us / 1e6)
    stopped = ended_by == rush.STOPPED
    return Outcome(rush.samples(told, ended_by), facts, in_force, NO_CLIENT, told.start_us / 1e6, stopped)


def _run(bench: Bench, s: Settings, told: rush.Told) -> str:
    """Runs the main; how it ended: a run that died, or took too long, is a finding and no failure."""
    called = s["downstream"] == "postgres"
    cut = Cut(bench.lab.database_died_s if called else lambda: None, bench.stop)
    try:
        bench.lab.run_main(
            "admission",
            {name: s[name] for name in _ASKED},
            stop=cut,
            told=told.take,
            heap_mb=int(s["heap_mb"]),
            wall_s=float(s["wall_limit_s"]),
            database=called,
        )
    except MainEnded as end:
        return end.how
    except ServiceDied:
        if called and until(lambda: bench.lab.database_died_s() is not None, DEATH_IS_KNOWN_S):
            raise database_gone() from None
        raise
    except KeyboardInterrupt:
        if cut.late and not cut.stopped:
            return rush.DATABASE_DIED
        if not told.ends:
            raise
        return rush.STOPPED
    return rush.FINISHED


def _nothing_told(ended_by: str, s: Settings) -> ServiceError:
    if ended_by == rush.DATABASE_DIED:
        return database_gone()
    what = "The JVM of admission ended before the crowd was there."
    tip = "a larger heap_mb, or a larger wall_limit_s"
    if s["downstream"] == "postgres":
        tip = f"run the cell again: a database that has gone is started anew; or {tip}"
    return ServiceError(what, found=ended_by.replace("_", " "), tip=tip)


def _check_in_force(s: Settings, found: dict[str, Any]) -> None:
    """ServiceError where the JVM reads back something else than was asked."""
    pool = s["pool_size"] if s["threads"] == "fixed" else 0
    asked = {"threads": s["threads"], "pool_size": pool, "gate": s["gate"], "capacity": s["capacity"]}
    wrong = [f"{name} is {found[name]} instead of {value}" for name, value in asked.items() if found[name] != value]
    heap, largest = int(s["heap_mb"]), int(found["heap_max_mb"])
    if not USABLE_HEAP * heap <= largest <= heap:
        wrong.append(f"heap_mb is {largest} instead of {heap}")
    if wrong:
        what = "The crowd was served, but not with the settings that were asked for."
        raise ServiceError(
            what, found="; ".join(wrong), tip="`waitlab build`, if the servers are older than this page."
        )


def _line(s: Settings, o: Outcome) -> str:
    f = o.facts
    ok = sorted(x.latency_ms for x in o.samples if x.cls == "ok")
    p99 = percentile(ok, 0.99) if len(ok) >= 100 else None
    counts = [f"{f['served']:,} served"]
    counts += [f"{f[name]:,} {word}" for name, word in _OTHERS.items() if f[name]]
    lost = f["failed"] - f["refused"]
    counts += [f"{lost:,} without an answer"] if lost else []
    times = f", p99 {p99:,.0f} ms" if p99 is not None else ""
    rate = f"{_rate(f['throughput_per_s'])} req/s (ceiling {_rate(f['ceiling_per_s'])})"
    heap = "" if f["heap_peak_mb"] is None else f", {f['heap_peak_mb']:,.1f} MB alive"
    ended = _ENDED.get(f["ended_by"], "")
    end = f"; {ended} after {f['wall_ms'] / 1000:,.1f} s" if ended else ""
    return f"{_who(s)}: {', '.join(counts)}{times}, {rate}; in flight {f['in_flight_peak']:,}{heap}{end}"


_OTHERS = {"dropped": "turned away", "refused": "refused"}
_ENDED = {"out_of_memory": "out of memory", "wall_limit": "ended at its wall limit"}


def _rate(per_s: float) -> str:
    return f"{per_s:,.0f}" if per_s >= 10 else f"{per_s:.2g}"


def _who(s: Settings) -> str:
    """Who serves, who is let in, whom they call."""
    who = "virtual threads" if s["threads"] == "virtual" else f"{s['pool_size']:,} platform threads"
    where = " inside the threads" if s["gate_at"] == "inside" else ""
    full = ", full: turned away" if s["on_full"] == "reject" else ""
    gate = f", gate {s['gate']:,}{where}{full}" if s["gate"] else ""
    called = {"semaphore": "", "postgres": ", PostgreSQL", "unguarded": ", a server without a valve"}
    load = f", {s['payload_kb']:,} kB each" if s["payload_kb"] else ""
    return f"{who}{gate}{called[str(s['downstream'])]}{load}, {s['requests']:,} at once"


def _limits(s: Settings) -> None:
    asked = crowd(s)
    if asked.reject and not asked.gate:
        raise limits.not_together("on_full=reject", "gate=0", "without a gate nothing can be full", "gate=200")
    if asked.inside and not asked.gate:
        raise limits.not_together(
            "gate_at=inside", "gate=0", "without a gate there is nothing to stand inside of", "gate=200"
        )
    if asked.pool:
        limits.refuse_above("pool_size", asked.pool, limits.threads(), "one JVM may have")
    if s["downstream"] == "postgres":
        limits.refuse_above("capacity", asked.capacity, limits.jdbc_connections(), "the database gives")
    limits.refuse_above("heap_mb", float(s["heap_mb"]), limits.memory_mb() * SPARE_MEMORY // 1, "a JVM's heap may take")
    wall = models_18.wall_ms(asked)
    limits.refuse_above("requests, capacity and hold_ms together", wall, LONGEST_MS, "a run lasts, in ms,")
    held, room = models_18.held_mb(asked, float(s["payload_kb"])), float(s["heap_mb"]) * SPARE_HEAP
    if held > room and not s["force"]:
        raise _too_heavy(held, room, s)


def _too_heavy(held: float, room: float, s: Settings) -> Exception:
    fits = int(float(s["payload_kb"]) * room / held)
    return limits.not_together(
        f"payload_kb={s['payload_kb']}",
        f"heap_mb={s['heap_mb']}",
        f"{held:,.0f} MB of data would be alive at once, and {SPARE_HEAP:.0%} of the heap is {room:,.0f} MB",
        f"payload_kb={fits}, a gate, or force=true to see what becomes of it",
    )


def _patience_s(s: Settings) -> int:
    """How long a run may take, s: three times what theory says, and what a start takes, with its connections."""
    start = START_S + (int(s["capacity"]) // CONNECTIONS_A_SECOND if s["downstream"] == "postgres" else 0)
    return int(PATIENCE * models_18.wall_ms(crowd(s)) / 1000) + start


def _room(s: Settings) -> int:
    return 20 * int(s["capacity"])


ADMISSION = (
    Control("threads", str, "fixed", choices=("fixed", "virtual"), help="a pool, or a virtual thread each"),
    Control("pool_size", int, 200, "threads", 1, 5000, help="threads of the pool; its queue takes any number"),
    Control("gate", int, 0, "requests", 0, 20_000, help="how many are let in at a time; 0 is no gate"),
    Control("on_full", str, "wait", choices=("wait", "reject"), help="what a full gate means"),
    Control("gate_at", str, "door", choices=("door", "inside"), help="before the thread, or on it (a mistake)"),
    Control("requests", int, 20_000, "requests", 10, 50_000, help="how many are there at once"),
    Control("capacity", int, 50, "requests", 1, 2000, help="how many the downstream serves at a time"),
    Control("hold_ms", int, 20, "ms", 1, 5000, help="how long each of them takes it"),
    Control("payload_kb", int, 0, "kB", 0, 2000, help="data that a request holds to its end"),
    Control("downstream", str, "semaphore", choices=("semaphore", "postgres", "unguarded"), help="who is called"),
    Control("downstream_limit", int, _room, "requests", 1, 50_000, computed="20 x capacity",
            help="callers above which the unguarded server refuses"),
    Control("heap_mb", int, 2048, "MB", 64, 4096, help="the JVM's heap at most"),
    Control("wall_limit_s", int, _patience_s, "s", 1, 600, computed="3 x theory + start", help="when it is ended"),
    Control("force", bool, False, help="run even where the data will not fit into the heap"),
)  # fmt: skip

EXPERIMENTS = (
    Experiment("admission", "20,000 at once: what does a pool, a virtual thread, a gate decide?", CHAPTER,
               _measure, _line, ADMISSION, model, _limits, (rush.SERIES,), "by_arrival"),
    Experiment("cpu-bound", "What do more threads do for work that only computes?", CHAPTER,
               computing.measure, computing.line, computing.CONTROLS, lambda s: {"ratio_to_cores": 1.0},
               computing.refuse, draw="computing"),
)  # fmt: skip
