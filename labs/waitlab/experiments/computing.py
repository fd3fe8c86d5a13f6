"""cpu-bound: work that waits for nothing, on a thread a core, on a larger pool, on a virtual thread each."""

from __future__ import annotations

from statistics import median
from typing import Any

from waitlab import limits
from waitlab.controls import Control, Settings
from waitlab.experiments.base import Bench, Outcome
from waitlab.experiments.serving import NO_CLIENT

WARM = 3
WAYS = ("cores", "fixed", "virtual")
TASK_MS = 0.25
"""Processor time of a task, ms, about: 1.4 million of them took two cores 161 s."""
LONGEST_MS = 120_000

CONTROLS = (
    Control("threads", str, "cores", choices=("cores", "fixed", "virtual"), help="whose wall is told"),
    Control("pool_size", int, 200, "threads", 1, 2000, help="threads of the larger pool"),
    Control("tasks", int, 2000, "tasks", 100, 20_000, help="how many pieces of work"),
    Control("rounds", int, 5, "rounds", 1, 20, help="measured rounds, after three that warm the JVM up"),
)


def lasts_ms(s: Settings) -> float:
    """How long a run takes, about, ms: all tasks of all ways in all rounds, shared by the cores.

    An estimate for a refusal, and no prediction: how fast this machine computes is what the run itself finds out.
    """
    return len(WAYS) * int(s["tasks"]) * (int(s["rounds"]) + WARM) * TASK_MS / limits.cpus()


def refuse(s: Settings) -> None:
    """ControlError for more threads than one JVM may have, and for more work than a run has time for."""
    limits.refuse_above("pool_size", float(s["pool_size"]), limits.threads(), "one JVM may have")
    limits.refuse_above("tasks and rounds together", lasts_ms(s), LONGEST_MS, "a run lasts, in ms,")


def measure(bench: Bench, s: Settings) -> Outcome:
    """All ways in one JVM; `wall_ms` is that of the way that was asked for."""
    bench.check_stop()
    told: list[dict[str, Any]] = []
    of = len(WAYS) * (int(s["rounds"]) + WARM)

    def take(one: dict[str, Any]) -> None:
        told.append(one)
        bench.progress(min(1.0, (len(told) - 1) / of), f"{len(told) - 1} of {of} rounds of computing")

    options = {name: s[name] for name in ("pool_size", "tasks", "rounds")}
    first, *lines = bench.lab.run_main("cpu-bound", options, stop=bench.stop, told=take)
    walls: dict[str, list[float]] = {way: [] for way in WAYS}
    for each in lines:
        if each["round"] > 0:
            walls[each["way"]].append(each["wall_ms"])
    mine = walls[str(s["threads"])]
    facts = {
        "wall_ms": median(mine),
        "wall_ms_each": mine,
        "ratio_to_cores": median(mine) / median(walls["cores"]),
        "walls_by_way": {way: median(each) for way, each in walls.items()},
        "walls_each_by_way": walls,
        "primes": lines[-1]["primes"],
    }
    in_force = {name: first[name] for name in ("pool_size", "available_processors", "heap_max_mb", "gc", "java")}
    return Outcome(facts=facts, in_force=in_force, client=NO_CLIENT)


def line(s: Settings, o: Outcome) -> str:
    """The Run's line."""
    who = {"cores": f"{o.in_force['available_processors']} threads", "fixed": f"{s['pool_size']:,} threads"}
    each = ", ".join(f"{ms:,.0f}" for ms in o.facts["wall_ms_each"])
    return (
        f"{who.get(str(s['threads']), 'virtual threads')}: {s['tasks']:,} tasks computed in "
        f"{o.facts['wall_ms']:,.0f} ms (median of {each}), {o.facts['ratio_to_cores']:.2f} times a thread a core"
    )
