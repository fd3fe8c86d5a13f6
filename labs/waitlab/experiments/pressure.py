"""Chapter 18's back-pressure: a chain source -> transform -> batch -> sink in Reactor, on the plain JVM.

A source faster than the sink is held by nobody, by a gate at the door, or by demand (`request(n)`) through all
stages; or it cannot be held, and what finds no place is dropped.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from waitlab import limits
from waitlab import models_pressure as models
from waitlab.controls import Control, Settings
from waitlab.errors import ServiceError
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.experiments.serving import NO_CLIENT

STAGES = ("door", "transform", "batch", "sink")
LONGEST_S = 90.0
_MACHINE = ("heap_max_mb", "gc", "available_processors", "java")


def _measure(bench: Bench, s: Settings) -> Outcome:
    bench.check_stop()
    bench.progress(0.0, "starting the chain")
    asked = float(s["source_per_s"]) * float(s["duration_s"])

    def told(line: dict[str, Any]) -> None:
        done = line["consumed"] + line["dropped"]
        if isinstance(done, int):
            bench.progress(min(1.0, done / asked), f"{done:,} items through, {line['produced'] - done:,} inside")

    *_, found = bench.lab.run_main("pressure", _options(s), stop=bench.stop, told=told)
    return Outcome(facts=_facts(found), in_force=_in_force(s, found["in_force"]), client=NO_CLIENT)


def _in_force(s: Settings, told: dict[str, Any]) -> dict[str, Any]:
    """The limits that the chain read back; ServiceError where one is not what was asked for."""
    kept = {name: value for name, value in told.items() if name in s or name in _MACHINE}
    wrong = [f"{name} is {kept[name]} instead of {s[name]}" for name in kept if name in s and kept[name] != s[name]]
    if wrong:
        what = "The chain ran, but not with the settings that were asked for."
        raise ServiceError(
            what, found="; ".join(wrong), tip="`waitlab build`, if the servers are older than this page."
        )
    return kept


def _options(s: Settings) -> dict[str, Any]:
    same = ("control", "source_per_s", "transform_per_s", "sink_per_s", "batch", "request_n", "gate", "buffer")
    return {name: s[name] for name in same} | {"duration_ms": round(float(s["duration_s"]) * 1000)}


def _facts(found: dict[str, Any]) -> dict[str, Any]:
    source_s = max(found["source_ended_ms"] / 1000, 1e-3)
    totals = {name: found[name][-1] for name in ("produced", "consumed", "dropped")}
    peaks = {stage: max(found[stage]) for stage in STAGES}
    return totals | {
        "produced_per_s": totals["produced"] / source_s,
        "wall_ms": found["at_ms"][-1],
        "consumed_per_s": totals["consumed"] / max(found["at_ms"][-1], 1) * 1000,
        "inside_peak": max(map(_inside, *(found[name] for name in ("produced", "consumed", "dropped")))),
        "queue_peak": peaks,
        "longest_queue": max(peaks, key=lambda stage: peaks[stage]),
        "queue_by_stage": {"t_s": [ms / 1000 for ms in found["at_ms"]], **{stage: found[stage] for stage in STAGES}},
    }


def _inside(produced: int, consumed: int, dropped: int) -> int:
    return produced - consumed - dropped


def _line(s: Settings, o: Outcome) -> str:
    f = o.facts
    longest = f["longest_queue"]
    lost = f", {f['dropped']:,} dropped" if f["dropped"] else ""
    where = "at the door" if longest == "door" else f"before {longest}"
    return (
        f"{said(s)}: {f['produced']:,} produced ({f['produced_per_s']:,.0f}/s), {f['consumed']:,} consumed{lost}; "
        f"longest queue {f['queue_peak'][longest]:,} {where}, at most {f['inside_peak']:,} inside"
    )


def said(s: Settings) -> str:
    """The control in words."""
    words = {
        "none": "no control",
        "gate": f"gate of {s['gate']:,}",
        "request-n": f"request({s['request_n']:,})",
        "drop": f"buffer of {s['buffer']:,}, the rest dropped",
    }
    return words[str(s["control"])]


def _flow(s: Settings) -> models.Flow:
    source, transform, sink = (float(s[name]) for name in ("source_per_s", "transform_per_s", "sink_per_s"))
    return models.Flow(source, transform, sink, int(s["batch"]), float(s["duration_s"]))


def _model(s: Settings) -> dict[str, Any]:
    flow, control = _flow(s), str(s["control"])
    sizes = (int(s["request_n"]), int(s["gate"]), int(s["buffer"]))
    made, seen = models.produced(control, flow, *sizes), models.passed(control, flow, *sizes)
    wall_s = models.wall_s(control, flow, *sizes)
    return {
        "produced": made,
        "consumed": seen,
        "dropped": made - seen,
        "wall_ms": wall_s * 1000,
        "consumed_per_s": seen / wall_s,
        "inside_peak_at_most": models.inside(control, flow, *sizes),
        "queue_peak_at_most": models.at_most(control, flow, *sizes),
        "curves": {"pressure": models.uncontrolled(flow) if control == "none" else {}},
    }


def _limits(s: Settings) -> None:
    if s["control"] == "gate" and int(s["gate"]) < int(s["batch"]):
        why = f"a batch of {s['batch']} never fills where {s['gate']} items may be inside"
        raise limits.not_together(f"gate={s['gate']}", f"batch={s['batch']}", why, f"gate={s['batch']} or more")
    longest = float(_model(s)["wall_ms"]) / 1000
    limits.refuse_above("duration_s and source_per_s together", ceil(longest), LONGEST_S, "a run lasts, in s,")


CONTROLS = (
    Control("control", str, "request-n", choices=("none", "gate", "request-n", "drop"), help="what holds the source"),
    Control("source_per_s", int, 1000, "items/s", 1, 20_000, help="how fast the source can"),
    Control("transform_per_s", int, 2000, "items/s", 1, 20_000, help="how fast transform can"),
    Control("sink_per_s", int, 500, "items/s", 1, 20_000, help="how fast the sink can"),
    Control("batch", int, 10, "items", 1, 1000, help="items that go to the sink together"),
    Control("request_n", int, 64, "items", 1, 100_000, help="what a stage asks for at a time (request-n, drop)"),
    Control("gate", int, 64, "items", 1, 100_000, help="items that may be inside (gate)"),
    Control("buffer", int, 64, "items", 1, 100_000, help="items kept at the door (drop)"),
    Control("duration_s", float, 3.0, "s", 0.5, 30, help="how long the source goes on"),
)

EXPERIMENTS = (
    Experiment("pressure", "Where do items wait when the sink is slow, and who tells the source?", "18_choosing",
               _measure, _line, CONTROLS, _model, _limits, draw="pressure"),
)  # fmt: skip
