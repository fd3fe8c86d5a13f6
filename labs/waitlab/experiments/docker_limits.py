"""What only containers have: a CPU limit, and the stalls that come with it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, cast

from waitlab.controls import Control, Settings
from waitlab.errors import ControlError, ServiceError
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.experiments.serving import client_facts, died_ms
from waitlab.load.client import LoadResult
from waitlab.load.plans import Plan, Stream, burst, poisson, spaced

if TYPE_CHECKING:
    from waitlab.services.docker_cgroup import CpuStat
    from waitlab.services.docker_cpu import CpuApp

BURST_MS = 15
SEED = 7
SMALLEST = 0.05


def _measure(bench: Bench, s: Settings) -> Outcome:
    if bench.lab.runtime != "docker":
        raise ServiceError(
            "throttled needs Docker: only a container has a CPU limit of its own.",
            found=f"this lab is {bench.lab.runtime} ({bench.lab.why})",
            tip="--runtime docker, where an engine runs",
        )
    here = float(bench.lab.machine()["cpus"])
    cpus = min(float(s["cpus"]), here)
    app = cast("CpuApp", bench.app("cpu", cpus=cpus, threads=s["threads"]))
    bench.progress(0.0, "warming up")
    bench.unmeasured(Plan((Stream("warm", f"{app.url}/work?ms=0&cpu_ms=1", spaced(500, 0.005)),), "steady"))
    in_force = app.settings() | {"same_clock": app.same_clock}
    before = app.cpu_stat()
    result = bench.load(_plan(app.url, s))
    facts = _facts(before, app.cpu_stat(), s, in_force) | died_ms(app, result)
    notes = (f"the container has {here:g} CPUs, all there are here",) if float(s["cpus"]) > here else ()
    return Outcome(result.samples, facts, in_force, _client(result), result.t0, result.partial, notes)


def _plan(url: str, s: Settings) -> Plan:
    """Random arrivals of small work, and about once a second as many requests at once as there are threads."""
    work, duration = f"{url}/work?ms=0&cpu_ms={s['work_ms']}", float(s["duration_s"])
    requests = Stream("requests", work, poisson(float(s["rate_per_s"]), duration, SEED))
    if not s["burst"]:
        return Plan((requests,), "steady")
    draw = random.Random(SEED)
    starts = [second + draw.uniform(0.1, 0.9) for second in range(int(duration))]
    times = tuple(at for start in starts for at in burst(int(s["threads"]), start))
    return Plan((requests, Stream("burst", f"{url}/work?ms=0&cpu_ms={BURST_MS}", times)), "steady")


def _facts(before: CpuStat, after: CpuStat, s: Settings, in_force: dict[str, Any]) -> dict[str, Any]:
    seconds = float(s["duration_s"])
    return {
        "nr_throttled_per_s": (after.throttled - before.throttled) / seconds,
        "throttled_ms_per_s": (after.throttled_s - before.throttled_s) * 1000 / seconds,
        "cpu_used": (after.used_s - before.used_s) / seconds,
        "available_processors": in_force["available_processors"],
        "cpu_limit": in_force["cpu_limit"],
    }


def _client(result: LoadResult) -> dict[str, Any]:
    """The client's facts; its lateness is judged on the small requests."""
    return client_facts(result, "steady", "requests")


def _model(s: Settings) -> dict[str, Any]:
    """CPU asked for, in CPUs, and the longest stall within the kernel's period of 100 ms, ms.

    A quota of c CPUs is c x 100 ms of work in each period. n threads on as many cores have used it up after
    c x 100 / n ms, and stand still for the rest of the period; on fewer cores, a little later.
    """
    bursts = int(s["threads"]) * BURST_MS / 1000 if s["burst"] else 0.0
    cpus = float(s["cpus"])
    stalls = 0 < cpus < float(s["threads"])
    return {
        "cpu_used": float(s["rate_per_s"]) * float(s["work_ms"]) / 1000 + bursts,
        "longest_stall_ms": 100 * (1 - cpus / float(s["threads"])) if stalls else 0.0,
    }


def _limits(s: Settings) -> None:
    cpus = float(s["cpus"])
    if 0 < cpus < SMALLEST or round(cpus, 2) != cpus:
        raise ControlError(
            f"A container's limit is 0 (none) or {SMALLEST:g} CPUs or more, in hundredths, and not {cpus:g}.",
            tip="cpus=0.5",
        )
    wanted = _model(s)["cpu_used"]
    if cpus and wanted > 0.9 * cpus:
        raise ControlError(
            f"These requests need {wanted:.2f} CPUs and the limit is {cpus:g}: the queue would only grow.",
            tip=f"rate_per_s={max(1, int(float(s['rate_per_s']) * 0.5 * cpus / wanted))}, or a larger limit",
        )


def _line(s: Settings, o: Outcome) -> str:
    limit = f"{s['cpus']:g} CPUs" if s["cpus"] else "no limit"
    took = sorted(x.latency_ms for x in o.samples if x.series == "requests" and x.cls == "ok")
    half, worst = (took[int(len(took) * share)] if took else 0.0 for share in (0.5, 0.99))
    return (
        f"{limit}: {len(took)} ok, p50 {half:,.1f} ms, p99 {worst:,.1f} ms, throttled "
        f"{o.facts['nr_throttled_per_s']:.1f} times a second at {o.facts['cpu_used']:.2f} CPUs used"
    )


EXPERIMENTS = (
    Experiment(
        "throttled",
        "What does a CPU limit do that the median does not show?",
        "lab_webflux",
        _measure,
        _line,
        (
            Control("cpus", float, 0.5, "CPUs", 0, 64, help="the container's limit; 0 is no limit"),
            Control("threads", int, 4, "threads", 1, 64, help="threads that serve"),
            Control("rate_per_s", float, 40.0, "requests/s", 1, 1000, help="small requests, at random"),
            Control("work_ms", int, 5, "ms", 1, 500, help="CPU time that each costs"),
            Control("burst", bool, True, help=f"about once a second, threads x {BURST_MS} ms at once"),
            Control("duration_s", int, 10, "s", 3, 120, help="how long"),
        ),
        _model,
        _limits,
        ("requests", "burst"),
        "latency",
        needs="docker",
    ),
)
