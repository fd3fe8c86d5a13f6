"""The list of chapters, made from the notebooks themselves: title, promise, minutes.

A chapter's first cell holds its title and promise; the table under "Before you start" ends in the minutes.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waitlab.notebooks import FOLDER, stems
from waitlab.predictions import calibration

__all__ = ["Chapter", "Table", "chapters", "guesses", "machine"]

START = "00_start_here"


@dataclass(frozen=True)
class Chapter:
    """A chapter as its notebook tells it; `minutes` is None where it does not say."""

    stem: str
    title: str
    promise: str
    minutes: int | None


@dataclass(frozen=True)
class Table:
    """Rows under heads, shown as a table; the first column may link to a notebook (`links`: text by row)."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = [self.heads, *self.rows]
        wide = [max(len(line[i]) for line in lines) for i in range(len(self.heads))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, wide, strict=True)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col" style="text-align:left">{html.escape(h)}</th>' for h in self.heads)
        body = "".join(f"<tr>{self._cells(i)}</tr>" for i in range(len(self.rows)))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cells(self, index: int) -> str:
        texts = [html.escape(cell) for cell in self.rows[index]]
        if self.links:
            texts[0] = f'<a href="{html.escape(self.links[index], quote=True)}">{texts[0]}</a>'
        return "".join(f'<td style="text-align:left;max-width:34em">{text}</td>' for text in texts)


def chapters() -> Table:
    """The chapters with promise and minutes, each title a link."""
    known = [chapter for chapter in all_chapters() if chapter.stem != START]
    rows = [(c.title, c.promise, "" if c.minutes is None else str(c.minutes)) for c in known]
    return Table(("chapter", "what it promises", "minutes"), tuple(rows), tuple(f"{c.stem}.ipynb" for c in known))


def machine() -> Table:
    """What this machine offers, as `waitlab doctor` says it."""
    from waitlab.services.doctor import doctor, doctor_table

    return Table(("what", "state", "detail"), tuple((str(a), str(b), str(c)) for a, b, c in doctor_table(doctor())))


def guesses() -> Table:
    """How well the reader has guessed, chapter by chapter."""
    rows = [(c.chapter, str(c.guesses), f"{c.median_off_by:.2g}", f"{c.within_two:.0%}") for c in calibration()]
    none = ("no guess yet", "0", "", "")
    return Table(("chapter", "guesses", "off by a factor of (median)", "within a factor of 2"), tuple(rows or [none]))


def all_chapters(folder: Path = FOLDER) -> list[Chapter]:
    """Every notebook of the folder, in reading order."""
    names = stems() if folder == FOLDER else sorted(path.stem for path in folder.glob("*.ipynb"))
    return [read(folder / f"{stem}.ipynb") for stem in names]


def read(path: Path) -> Chapter:
    """A notebook's title, promise and minutes."""
    book: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    texts = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "markdown"]
    title, _, promise = (texts[0] if texts else path.stem).partition("\n")
    return Chapter(path.stem, title.lstrip("# ").strip(), promise.strip(), _minutes(texts))


def _minutes(texts: Iterable[str]) -> int | None:
    """The last cell of the first row in the table under "Before you start"."""
    for text in texts:
        if text.startswith("## Before you start"):
            found = re.search(r"\|\s*(\d+)\s*\|\s*$", text, re.MULTILINE)
            return int(found.group(1)) if found else None
    return None
