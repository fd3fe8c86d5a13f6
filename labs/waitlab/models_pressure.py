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
    """Items between the source and the end at most; None without a bound.

    What a stage asked for stays asked for until it is worked off: n of transform, whole batches of the sink, one in the
    source's hands, and what is kept at the door.
    """
    if control in ("none", "gate"):
        return float(gate) if control == "gate" else None
    door = buffer + 1 if control == "drop" else 0
    return float(door + 1 + n + batches(flow, n) * flow.batch)


def batches(flow: Flow, n: int) -> int:
    """Batches that the sink asks for at a time: as many as n holds, at least one."""
    return max(1, n // flow.batch)


def arriving(control: str, flow: Flow, n: int) -> float:
    """Items a second that can come to the batch: the slower of source and transform, or of both by turns."""
    if control in ("none", "gate"):
        return min(flow.source, flow.transform)
    return _refilled(n, flow.source, flow.transform)


def through(control: str, flow: Flow, n: int, gate: int) -> float:
    """Items a second that come through while the source goes on.

    A sink that asks for few batches at a time and a gate for less than two of them leave the sink idle while the next
    is made: then their times add up. A batch is made in items / arriving, and its last item waits for the faster stage;
    where n holds a whole batch, that has passed the source meanwhile.
    """
    made = arriving(control, flow, n)
    if control == "gate" and gate < 2 * flow.batch:
        behind = 1 / max(flow.source, flow.transform)
        return min(flow.slowest, flow.batch / (flow.batch / flow.sink + (2 * flow.batch - gate) / made + behind))
    if control in ("none", "gate"):
        return flow.slowest
    ready = flow.transform if n >= flow.batch else made
    return min(made, _refilled(batches(flow, n), ready / flow.batch, flow.sink / flow.batch) * flow.batch)


def _refilled(n: int, before: float, after: float) -> float:
    """Items a second of two stages of which the second asks for n, and for the next when three quarters are worked off.

    Below four nothing is left when it asks again, so that it waits for the first of the next: n / (n / slower +
    1 / faster). Source: the rule of Reactor's publishOn, n - n / 4.
    """
    if n >= 4:
        return min(before, after)
    return n / (n / min(before, after) + 1 / max(before, after))


def passed(control: str, flow: Flow, n: int, gate: int, buffer: int) -> float:
    """Items that the sink sees in the end, about: what came to the batch, and through, while the source went on.

    What is inside when the source ends is still seen.
    """
    free, held = flow.source * flow.lasts_s, inside(control, flow, n, gate, buffer)
    if held is None:
        return free
    waiting = {"drop": n + buffer, "request-n": n}.get(control, 0)
    return min(
        free, arriving(control, flow, n) * flow.lasts_s + waiting, through(control, flow, n, gate) * flow.lasts_s + held
    )


def produced(control: str, flow: Flow, n: int, gate: int, buffer: int) -> float:
    """Items that the source makes, about: all it can, or what the chain takes from it."""
    return flow.source * flow.lasts_s if control in ("none", "drop") else passed(control, flow, n, gate, buffer)


def wall_s(control: str, flow: Flow, n: int, gate: int, buffer: int) -> float:
    """When the sink has seen the last item, s: after the source's end, after the last batch, after all batches."""
    seen, made = passed(control, flow, n, gate, buffer), arriving(control, flow, n)
    batch, rate = min(flow.batch, seen), through(control, flow, n, gate)
    by_turns = rate < min(made, flow.sink)
    drained = seen / rate if by_turns else batch / made + seen / flow.sink
    return max(flow.lasts_s, seen / made + batch / flow.sink, drained)
