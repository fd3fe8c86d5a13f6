"""The WebFlux lab's experiments without load: which thread ran a blocking call, and what BlockHound sees of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from waitlab.controls import Control, Settings
from waitlab.experiments.base import Bench, Experiment, Outcome
from waitlab.experiments.lab_webflux import CPUS, ENDPOINTS, path_of
from waitlab.experiments.serving import LOOP_PREFIX

NO_THREAD = "no thread waits"


def _measure_who(bench: Bench, s: Settings) -> Outcome:
    app = bench.app("webflux", cpus=s["cpus"])
    rows = [_who(app.get(path_of(e, float(s["block_ms"]))), e) for e in ENDPOINTS]
    return Outcome(facts={"rows": rows}, in_force=app.settings())


def _who(reply: dict[str, Any], endpoint: str) -> dict[str, Any]:
    """One row: the publish endpoints tell both threads; R2DBC blocks none."""
    before, after = reply.get("before", reply["thread"]), reply.get("after", reply["thread"])
    ran_on = NO_THREAD if endpoint == "r2dbc" else before
    return {"endpoint": endpoint, "blocking_call_ran_on": ran_on, "continued_on": after}


def _measure_blockhound(bench: Bench, _s: Settings) -> Outcome:
    app = bench.app("webflux", blockhound=True)
    app.delete("/blockhound")
    rows = []
    for endpoint in ("fast", *ENDPOINTS):
        app.get("/fast" if endpoint == "fast" else path_of(endpoint, 50))
        reports = app.get("/blockhound")["reports"]
        app.delete("/blockhound")
        first = reports[0] if reports else {}
        rows.append(
            {
                "endpoint": endpoint,
                "detected": bool(reports),
                **{k: first.get(k) for k in ("method", "thread")},
            }
        )
    return Outcome(facts={"rows": rows}, in_force=app.settings())


def _who_line(_s: Settings, o: Outcome) -> str:
    return _grouped(o, ("loop", "offload", NO_THREAD), lambda row: _place(row["blocking_call_ran_on"]))


def _blockhound_line(_s: Settings, o: Outcome) -> str:
    return _grouped(o, ("seen", "not seen"), lambda row: "seen" if row["detected"] else "not seen")


def _place(thread: str) -> str:
    """Where a blocking call ran, in a word: on a loop, on a thread of the offload pool, or nowhere."""
    return "loop" if thread.startswith(LOOP_PREFIX) else "offload" if thread != NO_THREAD else NO_THREAD


def _grouped(o: Outcome, groups: Iterable[str], group_of: Callable[[dict[str, Any]], str]) -> str:
    """The endpoints by group: `seen: sleep, jdbc; not seen: r2dbc`."""
    members = {group: [row["endpoint"] for row in o.facts["rows"] if group_of(row) == group] for group in groups}
    return "; ".join(f"{group}: {', '.join(names)}" for group, names in members.items() if names)


EXPERIMENTS = (
    Experiment("who-runs-it", "Which thread ran the blocking call?", "lab_webflux", _measure_who,
               _who_line,
               (Control("block_ms", int, 100, "ms", 1, 10_000, help="how long each call blocks"), CPUS), draw="rows"),
    Experiment("blockhound", "Which blocking calls does BlockHound see?", "lab_webflux", _measure_blockhound,
               _blockhound_line, draw="rows"),
)  # fmt: skip
