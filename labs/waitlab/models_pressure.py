"""Theory of pressure: source -> transform -> batch -> sink as flows, with their queues as areas between them.

Rates in items/s, times in s. The source makes items for `lasts_s`; then the chain empties.
"""

from __future__ import annotations

from dataclasses import dataclass

Line = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Flow:
    """The chain: items a second of each stage, how many make a batch, how long the source goes on, s."""

    source: float
    transform: float
    sink: float
    batch: int
    lasts_s: float

    @property
    def slowest(self) -> float:
        """What comes through at most, items/s: the slowest of the three."""
        return min(self.source, self.transform, self.sink)


def uncontrolled(flow: Flow) -> dict[str, Line]:
    """The queues of a chain whose stages ask for everything: each grows by what comes less what goes, items over s.

    Before a stage: (rate in - rate out) x t while items come, then - rate out. Source: fluid limit of a tandem queue.
    """
    passed = min(flow.source, flow.transform)
    emptied = flow.lasts_s * flow.source / passed
    last = emptied * max(1.0, passed / flow.sink)
    before_transform = (flow.source - passed) * flow.lasts_s
    before_sink = max(0.0, passed - flow.sink) * emptied
    return {
        "transform": {"x": [0.0, flow.lasts_s, emptied, last], "y": [0.0, before_transform, 0.0, 0.0]},
        "sink": {"x": [0.0, emptied, last], "y": [0.0, before_sink, 0.0]},
    }


def at_most(control: str, flow: Flow, n: int, gate: int, buffer: int) -> dict[str, float | None]:
    """The longest that each queue can become, items; None where nothing bounds it.

    request-n: a stage asks for n and never has more; the sink asks for whole batches, as many as n holds, at least
    one. A batch waits for its last item. A gate bounds all queues together, so each. Source: Reactive Streams 1.0,
    rule 1.1 (no more elements than were requested).
    """
    unfinished = float(flow.batch - 1)
    if control == "none":
        return {"transform": None, "batch": unfinished, "sink": None}
    if control == "gate":
        return {"transform": float(gate), "batch": min(unfinished, gate), "sink": float(gate)}
    bounds: dict[str, float | None] = {"transform": float(n), "batch": unfinished}
    bounds["sink"] = float(max(1, n // flow.batch) * flow.batch)
    return {"door": buffer + 1.0, **bounds} if control == "drop" else bounds


def inside(control: str, flow: Flow, n: int, gate: int, buffer: int) -> float | None:
    """Items between the source and the end at most: the queues and what the stages work on; None without a bound."""
    if control in ("none", "gate"):
        return float(gate) if control == "gate" else None
    queues = [length for length in at_most(control, flow, n, gate, buffer).values() if length is not None]
    return sum(queues) + 1 + flow.batch


def produced(control: str, flow: Flow, held: float | None) -> float:
    """Items that the source makes, about: all it can, or what comes through and what then is inside."""
    free = flow.source * flow.lasts_s
    if control in ("none", "drop") or held is None:
        return free
    return min(free, flow.slowest * flow.lasts_s + held)


def dropped(control: str, flow: Flow, held: float | None) -> float:
    """Items lost, about: what a source that cannot be slowed makes beyond what comes through and what is inside."""
    if control != "drop" or held is None:
        return 0.0
    return max(0.0, (flow.source - flow.slowest) * flow.lasts_s - held)
