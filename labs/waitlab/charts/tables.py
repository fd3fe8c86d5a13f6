"""The data of a figure as a table that screen readers can walk through; folded, and cut at 200 rows."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from waitlab.charts.words import MANY_RUNS, label, tally
from waitlab.load.samples import OK, Sample
from waitlab.runs import Run

MOST_ROWS = 200
PLAIN = "mathjax_ignore tex2jax_ignore"
FOLDED = "text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:6em;max-width:32em"
_HEADS = ("series", "sent at, s", "late, ms", "took, ms", "answer", "thread")


def table(*runs: Run) -> str:
    """The Runs' requests as HTML: one folded table a Run; of many, a row each. Whatever a server said is escaped."""
    if len(runs) > MANY_RUNS:
        rows = [(label(run, runs), "; ".join(tally(s) for s in run.series.values()), run.line) for run in runs]
        inside = html_table(("run", "requests", "in one line"), rows, f"{len(runs)} runs")
        return f"<details><summary>Data of {len(runs)} runs</summary>{inside}</details>"
    return "".join(_details(run, runs) for run in runs)


def html_table(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str) -> str:
    """A plain HTML table; every cell is escaped, and no `$` in it (a nested class's) is taken for mathematics."""
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{_cell(c)}</td>" for c in row) + "</tr>" for row in rows)
    said = f"<caption>{html.escape(caption)}</caption>"
    return f'<div class="{PLAIN}"><table>{said}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(value: object) -> str:
    """A cell's text, escaped; a list folded, a line each."""
    if isinstance(value, list | tuple):
        lines = "<br>".join(html.escape(str(line)) for line in value)
        return f'<details style="{FOLDED}"><summary>{len(value)} lines</summary>{lines}</details>'
    return html.escape(str(value))


def _details(run: Run, runs: Sequence[Run]) -> str:
    name = label(run, runs)
    rows = run.facts.get("rows") or _stages(run)
    if rows:
        heads = list(dict.fromkeys(key for row in rows for key in row))
        inside = html_table(heads, [[row.get(key, "") for key in heads] for row in rows], run.line)
        return f"<details><summary>Data of {name}: {len(rows)} rows</summary>{inside}</details>"
    samples = sorted((s for series in run.series.values() for s in series.samples), key=lambda s: s.intended_s)
    shown = samples[:MOST_ROWS]
    cut = f", the first {MOST_ROWS} of them" if len(samples) > MOST_ROWS else ""
    inside = html_table(_HEADS, [_row(sample, run.t0_s) for sample in shown], run.line)
    where = ("where", "waiting, p50", "peak", "mean wait, ms")
    told = html_table(where, _queues(run), "Where they waited") * bool(_queues(run)) + inside
    return f"{_seen(run, name)}<details><summary>Data of {name}: {len(samples)} requests{cut}</summary>{told}</details>"


def _queues(run: Run) -> list[tuple[object, ...]]:
    """The queues of a server, where it was watched."""
    known = {place: found for place, found in (run.facts.get("queues") or {}).items() if found}
    return [
        (place, *(round(found[name] or 0, 1) for name in ("p50", "peak", "wait_ms"))) for place, found in known.items()
    ]


def _stages(run: Run) -> list[dict[str, object]]:
    """The queues of a chain over time, a row for each tenth look."""
    lines = run.facts.get("queue_by_stage") or {}
    names = list(lines)
    return [dict(zip(names, look, strict=True)) for look in list(zip(*lines.values(), strict=True))[::10]]


def _seen(run: Run, name: str) -> str:
    """What a Run saw besides requests: threads with their frames to open, a breaker's states."""
    told = []
    for fact in ("threads", "states"):
        rows = run.facts.get(fact) or []
        if rows and isinstance(rows, list | tuple):
            heads = list(dict.fromkeys(key for row in rows for key in row))
            inside = html_table(heads, [[row.get(key, "") for key in heads] for row in rows], run.line)
            told.append(
                f"<details><summary>{fact.capitalize()} of {name}: {len(rows)} rows</summary>{inside}</details>"
            )
    return "".join(told)


def _row(sample: Sample, t0_s: float) -> tuple[str, ...]:
    return (
        sample.series,
        f"{sample.intended_s - t0_s:.3f}",
        f"{sample.lag_ms:.1f}",
        "never sent" if sample.done_s is None else f"{sample.latency_ms:.1f}",
        str(sample.status or OK) if sample.cls == OK else sample.cls,
        sample.thread,
    )
