"""Theory of a crowd at a pool of threads: how many are served at a time, how long each is held, what follows.

held_ms -> widths -> ceiling -> burst (stairs, percentiles against the pool's size) | steady (the wait grows)
"""

from __future__ import annotations

from math import ceil, inf
from statistics import median
from typing import Any

from waitlab import limits, models
from waitlab.controls import Settings

Curves = dict[str, dict[str, list[float]]]
SHARES = {"p50": 0.50, "p99": 0.99}
NARROWEST, WIDEST = 10, 1000  # the pool sizes, threads, between which percentiles are drawn


def held_ms(s: Settings) -> float:
    """How long a request holds its thread, ms: its own computing, and its calls one after another or all at once."""
    return float(s["cpu_ms"]) + float(s["service_ms"]) * (1 if s["in_parallel"] else int(s["calls"]))


def processors(s: Settings) -> int:
    """How many processors the server may use: as many as it is told to, and as there are."""
    return min(int(s["cpus"]), limits.cpus())


def widths(s: Settings) -> dict[str, tuple[float, float]]:
    """What may serve at a time, and for how long a request takes it, ms: threads, connections, processors."""
    found = {"threads": (_threads(s), held_ms(s))}
    if s["downstream"] == "postgres":
        found["connections"] = (float(s["jdbc_pool_size"]), float(s["service_ms"]) * int(s["calls"]))
    if s["cpu_ms"]:
        found["processors"] = (float(processors(s)), float(s["cpu_ms"]))
    return found


def ceiling(s: Settings) -> float | None:
    """The lowest of the ceilings, requests/s; None where nothing limits, 0 where nobody is served."""
    known = [width / held * 1000 for width, held in widths(s).values() if held and width < inf]
    return min(known, default=None)


def model(s: Settings) -> dict[str, Any]:
    """What must come out, and the lines that charts draw."""
    if s["arrivals"] == "steady":
        return _steady(s)
    users, top, cores = int(s["users"]), ceiling(s), threads_for_cores(s)
    told = dict[str, Any](ceiling_per_s=top) | ({"threads_for_cores": cores} if cores else {})
    if not _threads(s):
        return told | {"throughput_per_s": 0.0}
    wall = done_ms(users, s)
    told |= {"waves": models.waves(users, _abreast(s)), "wall_ms": wall}
    told |= {f"{name}_ms": done_ms(_rank(share, users), s) for name, share in SHARES.items()}
    told |= {"throughput_per_s": users / wall * 1000 if wall else None}
    told |= {"workers_peak": min(int(s["pool_size"]), users) if s["threads"] == "platform" else 0}
    return told | {"stairs": _stairs(s), "curves": _curves(s)}


def done_ms(i: int, s: Settings) -> float:
    """When the i-th of a burst is done at the earliest, ms: by threads, by connections, by processors, the latest.

    Threads serve it in wave ceil(i / threads); connections have served i x calls in ceil(i x calls / connections)
    turns; processors have computed for i, and then it still waits.
    """
    held, service, cpu = held_ms(s), float(s["service_ms"]), float(s["cpu_ms"])
    threads = models.burst_latency_ms(i, int(min(_threads(s), int(s["users"]))), held)
    connections = processing = 0.0
    if s["downstream"] == "postgres":
        connections = cpu + models.burst_latency_ms(i * int(s["calls"]), int(s["jdbc_pool_size"]), service)
    if cpu:
        processing = models.burst_latency_ms(i, processors(s), cpu) + held - cpu
    return max(threads, connections, processing)


def threads_for_cores(s: Settings) -> float | None:
    """The pool that keeps the processors busy with this work: cores x (1 + W / C); None for work that only waits."""
    cpu = float(s["cpu_ms"])
    return models.threads_for(processors(s), 1.0, held_ms(s) - cpu, cpu) if cpu else None


def _threads(s: Settings) -> float:
    """Threads that may serve; where a thread belongs to a connection, the silent ones keep theirs."""
    if s["threads"] == "virtual":
        return inf
    silent = int(s["idle_connections"]) if s["model"] == "connection" else 0
    return float(max(0, int(s["pool_size"]) - silent))


def _abreast(s: Settings) -> int:
    """How many of the crowd are served at a time: by the threads, or by the connections where these are fewer."""
    connections = int(s["jdbc_pool_size"]) if s["downstream"] == "postgres" else inf
    return int(min(_threads(s), connections, int(s["users"])))


def _rank(share: float, users: int) -> int:
    """Which request, counted from the fastest, is this percentile (nearest rank)."""
    return max(1, ceil(share * users))


def _stairs(s: Settings) -> dict[str, list[float]]:
    """The burst's latencies in ascending order: the first request of each step, and the last of all."""
    users = int(s["users"])
    all_ms = [done_ms(i, s) for i in range(1, users + 1)]
    firsts = [1, *(i for i in range(2, users + 1) if all_ms[i - 1] != all_ms[i - 2]), users]
    return {"x": [float(i) for i in firsts], "y": [all_ms[i - 1] for i in firsts]}


def _curves(s: Settings) -> dict[str, Curves]:
    """The burst against the pool's size, the other controls as they are: percentiles, throughput, its ceiling."""
    users = int(s["users"])
    each: list[Settings] = [{**s, "pool_size": pool, "threads": "platform"} for pool in _sizes(users)]
    some = [one for one in each if _threads(one)]
    x = [float(one["pool_size"]) for one in some]
    ranks = {name: _rank(share, users) for name, share in SHARES.items()}
    percentiles = {name: {"x": x, "y": [done_ms(rank, one) for one in some]} for name, rank in ranks.items()}
    if not held_ms(s):
        return {"percentiles": percentiles}
    tops = [ceiling(one) or 0.0 for one in some]
    served = [users / done_ms(users, one) * 1000 for one in some]
    return {"percentiles": percentiles, "throughput": {"ceiling": {"x": x, "y": tops}, "burst": {"x": x, "y": served}}}


def _sizes(users: int) -> list[int]:
    """Pool sizes from NARROWEST to WIDEST: all those at which a percentile or the number of waves changes."""
    ranks = {users, *(_rank(share, users) for share in SHARES.values())}
    changes = {ceil(rank / wave) for rank in ranks for wave in range(1, rank // NARROWEST + 2)}
    return sorted({NARROWEST, WIDEST, *(size for size in changes if NARROWEST < size < WIDEST)})


def _steady(s: Settings) -> dict[str, Any]:
    rate, held, seconds, top = float(s["rate_per_s"]), held_ms(s), float(s["duration_s"]), ceiling(s)
    at = [seconds * step / 60 for step in range(61)]
    y = [models.steady_latency_ms(t, rate, top, held) for t in at]
    return {
        "ceiling_per_s": top,
        "throughput_per_s": rate if top is None else min(rate, top),
        "p50_ms": median(y),
        "wall_ms": seconds * 1000 + y[-1],
        "curve": {"x": at, "y": y},
    }
