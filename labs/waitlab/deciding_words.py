"""How a decision sheet is shown: a table with a column for each stack, or the same as text."""

from __future__ import annotations

import html
from math import inf
from typing import TYPE_CHECKING

from waitlab.charts.palette import ERROR, look
from waitlab.predictions import show

if TYPE_CHECKING:
    from waitlab.deciding import Row, Sheet

__all__ = ["NAMES", "as_html", "as_text", "lines"]

NAMES = {
    "mvc-platform": "thread pool",
    "mvc-virtual": "virtual threads",
    "webflux-jdbc-offloaded": "WebFlux, offloaded JDBC",
    "webflux-r2dbc": "WebFlux, R2DBC",
}
VERDICT, SHOWN_BY = "verdict", "shown by"
_TABLE = "table-layout:fixed;width:100%;max-width:900px;line-height:1.35;border-spacing:0"
_PLACE = "text-align:left;vertical-align:top;padding:4px 10px 4px 0;overflow-wrap:anywhere"


def lines(row: Row) -> dict[str, str]:
    """What the sheet says of one stack, by the name of the line."""
    other = [(rate, limit) for limit, rate in row.ceilings.items() if limit != row.first_limit and rate < inf]
    return {
        "first limit": f"{row.first_limit}, at {_rate(row.ceiling_per_s)}/s ({row.utilisation:.0%} used)",
        VERDICT: row.verdict,
        SHOWN_BY: row.shown_by,
        "limits after it, 1/s": ", ".join(f"{limit} {_rate(rate)}" for rate, limit in sorted(other)),
        "in flight": _in_flight(row),
        "platform threads it takes": f"{row.threads_needed:,}",
        "a crowd is held back by": row.held_back_by,
        "crowd: begun at once": f"{row.in_flight_peak:,}",
        "crowd: calls downstream at once": f"{row.downstream_peak:,}",
        "crowd: heap": f"{show(row.heap_peak_mb)} MB",
        "reserved for threads' stacks": f"{show(row.stacks_reserved_mb)} MB",
        "admit at most": f"{row.admit:,}",
    }


def as_text(sheet: Sheet) -> str:
    """The advice, and a paragraph for each stack."""
    said = [sheet.advice]
    for row in sheet:
        told = lines(row)
        said.append(f"{NAMES[row.stack]}: {told['first limit']}; in flight {told['in flight']}. {row.verdict}")
        said.append(f"    {row.shown_by}")
    return "\n".join(said)


def as_html(sheet: Sheet) -> str:
    """The sheet as a table, a column for each stack; the advice above it. All text is escaped."""
    columns = [lines(row) for row in sheet]
    heads = "".join(_head(row) for row in sheet)
    body = "".join(_line(name, [column[name] for column in columns], sheet) for name in columns[0])
    first = f"<thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody>"
    table = f'<table class="waitlab-sheet" style="{_TABLE}">{first}</table>'
    return f"<p><strong>{html.escape(sheet.advice)}</strong></p>{table}"


def _head(row: Row) -> str:
    """A stack's name, under a bar in its colour."""
    colour = look({"stack": row.stack}).colour
    style = f"{_PLACE};border-top:4px solid {colour}"
    return f'<th scope="col" style="{style}">{html.escape(NAMES[row.stack])}</th>'


def _line(name: str, texts: list[str], sheet: Sheet) -> str:
    head = f'<th scope="row" style="{_PLACE};font-weight:normal;opacity:0.75">{html.escape(name)}</th>'
    cells = "".join(_cell(name, text, row) for text, row in zip(texts, sheet, strict=True))
    return f"<tr>{head}{cells}</tr>"


def _cell(name: str, text: str, row: Row) -> str:
    inside = html.escape(text)
    if name == SHOWN_BY:
        inside = f'<code style="white-space:pre-wrap;line-height:1.35;user-select:all">{inside}</code>'
    if name == "in flight" and row.grows_per_s:
        inside = f'<span style="color:{ERROR}">{inside}</span>'
    return f'<td style="{_PLACE}">{inside}</td>'


def _in_flight(row: Row) -> str:
    if row.in_flight is None:
        return f"grows by {_rate(row.grows_per_s)} a second"
    return show(round(row.in_flight, 1))


def _rate(per_s: float) -> str:
    return f"{per_s:,.0f}" if per_s >= 10 else f"{per_s:.2g}"
