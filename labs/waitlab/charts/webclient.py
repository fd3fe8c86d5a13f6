"""Charts of the WebClient lab that compare: threads by what they do, clients beside published ones, eight boundaries.

What a thread waits for is read off its frames; the data under the figure has the frames to open.
`told` says each figure in words.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from waitlab.charts.crowds import spread
from waitlab.charts.figure import dressed, new
from waitlab.charts.palette import (
    CORES,
    GRID,
    INK,
    OFFLOADED,
    ON_THE_LOOP,
    OTHER,
    PAPER,
    PLATFORM,
    REACTIVE,
    VIRTUAL,
    VOID,
    WAITING,
    Look,
)
from waitlab.charts.tables import html_table, table
from waitlab.charts.words import label
from waitlab.experiments import frames
from waitlab.predictions import show
from waitlab.published import CLIENTS
from waitlab.runs import Run

NAMES = {
    frames.EXEC: "workers", frames.VIRTUAL: "virtual", frames.NETTY: "Netty",
    frames.JDK: "the JDK client's own", frames.OTHER: "others",
}  # fmt: skip
WORDS = {
    frames.BLOCK: "wait in Mono.block", frames.ANSWER: "wait in the JDK client", frames.IDLE: "idle",
    frames.KERNEL: "wait for the kernel", frames.CONNECTION: "wait for a connection",
    frames.DATABASE: "wait for the database", frames.RUNNING: "run", frames.ELSEWHERE: "wait elsewhere",
}  # fmt: skip
_LOOKS: dict[tuple[str, str], Look] = {
    (frames.EXEC, frames.BLOCK): OFFLOADED,
    (frames.EXEC, frames.ANSWER): PLATFORM,
    (frames.EXEC, frames.IDLE): Look(WAITING, "circle", ""),
    (frames.EXEC, frames.RUNNING): ON_THE_LOOP,
}
_BY_GROUP = {
    frames.EXEC: ON_THE_LOOP, frames.VIRTUAL: VIRTUAL, frames.NETTY: REACTIVE, frames.JDK: CORES,
    frames.OTHER: Look(VOID, "circle", "/"),
}  # fmt: skip
LEGIBLE = 0.05
_CLIENT_HEADS = ("client", "p50 ms", "published ms", "CPU ms a call", "published CPU", "live threads", "published")
_BOUNDARY_HEADS = ("transaction", "client", "open in view", "seen", "taken (median)", "gave up", "theory")
_COMPARED: tuple[tuple[str, Callable[[Run], float]], ...] = (
    ("p50", lambda run: run.series["slow"].p50_ms or 0.0),
    ("CPU", lambda run: run.facts["cpu_ms_per_request"]),
    ("live threads", lambda run: run.facts["live_threads_peak"]),
)
LINE, ROW = 19, 24
Key = tuple[str, str]


def states(runs: Sequence[Run]) -> Any:
    """A bar for each Run: the threads of its dump, by group and by what they do."""
    figure = new("Threads while the calls hang", "", "threads in the dump", height=520)
    places = list(range(len(runs)))
    rows = [run.facts.get("threads") or [] for run in runs]
    tallest = max([1, *(sum(row["count"] for row in one) for one in rows)])
    for key in _keys(rows):
        counts = [_count(one, key) for one in rows]
        style = _LOOKS.get(key) or _BY_GROUP.get(key[0], OTHER)
        figure.add_bar(
            x=places,
            y=counts,
            name=_named(key, rows).replace(" (", "<br>("),
            width=0.6,
            marker={"color": style.colour, "pattern": dressed(style.pattern)},
            text=[str(n) if n >= LEGIBLE * tallest else "" for n in counts],
            textangle=0,
            insidetextanchor="middle",
            hovertext=[_hover(one, key) for one in rows],
            hoverinfo="text",
        )
    figure.update_layout(barmode="stack", bargap=0.3)
    ticks = [label(run, runs).replace(", ", "<br>") for run in runs]
    figure.update_xaxes(tickmode="array", tickvals=places, ticktext=ticks, tickangle=0)
    figure.update_yaxes(rangemode="tozero", tickformat=",")
    return figure


def clients(runs: Sequence[Run]) -> Any:
    """Medians of repeated Runs with their ranges, a row for each client, beside published ones; below, what differs."""
    heads = [_CLIENT_HEADS[i] for i in (0, 1, 3, 5)]
    rows = [(row[0], *(_beside(row[i], row[i + 1]) for i in (1, 3, 5))) for row in client_rows(runs)]
    figure = _as_table("The same calls, client by client", heads, rows, [5, 5, 5, 5])
    lines = apart(runs)
    at = {"xref": "paper", "yref": "paper", "x": 0, "y": 0, "xanchor": "left", "yanchor": "top", "yshift": -6}
    figure.add_annotation(text="<br>".join(lines), align="left", showarrow=False, **at)
    room = LINE * len(lines) + 16
    figure.update_layout(margin={"b": room}, height=figure.layout.height + room)
    return figure


def _beside(here: str, published: str) -> str:
    """A cell: what was measured here, and under it what was published."""
    return f"{here}<br>published {published}" if published else here


def apart(runs: Sequence[Run]) -> list[str]:
    """For each measure whose whole range lies below whose, a sentence each, or that every two ranges touch."""
    alike = {name: [run for run in runs if run.settings["client"] == name] for name in _clients_of(runs)}
    lines = []
    for measure, of in _COMPARED:
        values = {name: [of(run) for run in own] for name, own in alike.items()}
        above = {name: [o for o in values if max(values[name]) < min(values[o])] for name in values}
        found = [f"{measure}: {name} below {', '.join(others)}." for name, others in above.items() if others]
        lines += found or [f"{measure}: every two ranges touch."]
    return lines


def _clients_of(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(str(run.settings["client"]) for run in runs))


def client_rows(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """The rows of `clients`: median (lowest to highest) of the Runs with the same client."""
    rows: list[tuple[str, ...]] = []
    for client in _clients_of(runs):
        alike = [run for run in runs if run.settings["client"] == client]
        told = CLIENTS.get(client)
        rows.append(
            (
                client,
                spread([run.series["slow"].p50_ms or 0.0 for run in alike]),
                show(told.latency_ms) if told else "",
                _precise([run.facts["cpu_ms_per_request"] for run in alike]),
                f"{told.cpu_percent} %" if told else "",
                spread([run.facts["live_threads_peak"] for run in alike]),
                show(told.live_threads) if told else "",
            )
        )
    return rows


def boundaries(runs: Sequence[Run]) -> Any:
    """What happens to the connection, a row for each Run."""
    return _as_table(
        "Is a connection held while the call hangs?",
        _BOUNDARY_HEADS,
        boundary_rows(runs),
        [92, 112, 60, 58, 78, 56, 62],
    )


def boundary_rows(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """The rows of `boundaries`: what was asked, what was seen, what theory says."""
    return [
        (
            "around" if run.settings["boundary"] == "transaction" else "apart",
            str(run.settings["client"]),
            "on" if run.settings["open_in_view"] else "off",
            _held(run.facts["connection_held"]),
            f"{show(run.facts['pool_active_p50'])} of {run.settings['jdbc_pool_size']}",
            show(run.facts["pool_timeouts"]),
            _held(run.model["connection_held"]),
        )
        for run in runs
    ]


def _held(held: object) -> str:
    return "held" if held else "free"


def _precise(values: Sequence[float]) -> str:
    """The median, and in brackets the lowest and the highest, with a decimal."""
    return f"{median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def _as_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> Any:
    cells = [[cell.replace(" (", "<br>(") for cell in column] for column in zip(*rows, strict=True)]
    tall = ROW + LINE * max(cell.count("<br>") for column in cells for cell in column)
    figure = new(title, "", "", height=150 + (tall + 4) * len(rows))
    look_of_all = {"align": "left", "line_color": GRID, "font_color": INK}
    figure.add_table(
        header={"values": [f"<b>{head}</b>" for head in heads], "fill_color": GRID, "height": 46, **look_of_all},
        cells={"values": cells, "fill_color": PAPER, "height": tall, **look_of_all},
        columnwidth=list(widths),
    )
    figure.update_layout(margin={"l": 16, "b": 16})
    return figure


def _keys(rows: Sequence[Sequence[Mapping[str, Any]]]) -> list[Key]:
    """The segments from below: who works or waits for somebody, then the idle, then the others."""
    found = dict.fromkeys(_key(row) for one in rows for row in one)
    groups, idle = list(NAMES), frames.IDLE
    ranks = {key: (key == (frames.EXEC, idle), groups.index(key[0]), key[1]) for key in found}
    first = [key for key in found if key[0] in (frames.EXEC, frames.VIRTUAL)]
    return sorted(first, key=ranks.__getitem__) + sorted((k for k in found if k not in first), key=ranks.__getitem__)


def _key(row: Mapping[str, Any]) -> Key:
    """A row's segment; of the threads that have nothing to do with requests all are one."""
    return row["group"], "" if row["group"] in (frames.OTHER, frames.JDK) else row["doing"]


def _count(rows: Sequence[Mapping[str, Any]], key: Key) -> int:
    return sum(row["count"] for row in rows if _key(row) == key)


def _named(key: Key, rows: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """A segment's name: who, what, and the state that a dump gives them."""
    group, what = key
    if not what:
        return NAMES[group]
    told = dict.fromkeys(row["state"] for one in rows for row in one if _key(row) == key)
    return f"{NAMES[group]}: {WORDS[what]} ({', '.join(told)})"


def told(kind: str, runs: Sequence[Run]) -> tuple[list[str], str]:
    """What stands beside a figure: its bars or rows as sentences, and the data; of a table what it shows, too."""
    if kind == "states":
        return [f"{html.unescape(label(run, runs))}: {_said(run)}." for run in runs], table(*runs)
    heads, rows = (_CLIENT_HEADS, client_rows(runs)) if kind == "clients" else (_BOUNDARY_HEADS, boundary_rows(runs))
    said = ["; ".join(f"{head} {cell}" for head, cell in zip(heads, row, strict=True) if cell) + "." for row in rows]
    drawn = html_table(heads, rows, f"{len(rows)} rows")
    folded = f"<details><summary>Data of the figure</summary>{drawn}</details>"
    return [*said, *(apart(runs) if kind == "clients" else [])], folded + table(*runs)


def _said(run: Run) -> str:
    """A bar in words: how many threads of each segment, from below."""
    rows = run.facts.get("threads") or []
    counted = [f"{_count(rows, key)} {_named(key, [rows])}" for key in _keys([rows])]
    return ", ".join(counted) or "no dump"


def _hover(rows: Sequence[Mapping[str, Any]], key: Key) -> str:
    own = [row for row in rows if _key(row) == key]
    return "<br>".join(f"{row['count']} {row['group']}, {row['state']}, {row['top_frame']}" for row in own[:8])
