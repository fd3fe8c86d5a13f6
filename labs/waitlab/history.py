"""The reader's history of guesses: a file of JSON lines in the reader's data folder, only ever appended to.

WAITLAB_DATA overrides the folder. Each line is written in one piece, so that two notebooks cannot mix theirs.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Calibration", "append", "calibration", "chapter", "data_file", "history"]


@dataclass(frozen=True)
class Calibration:
    """How well a reader guessed in a chapter: guesses, median factor, the share within a factor of 2."""

    chapter: str
    guesses: int
    median_off_by: float
    within_two: float

    def __repr__(self) -> str:
        typical = self.median_off_by
        median = "beyond any factor" if typical == math.inf else f"a factor of {typical:.2g}"
        guesses = "1 guess" if self.guesses == 1 else f"{self.guesses} guesses"
        share = f"{self.within_two:.0%} within a factor of 2"
        return f"{self.chapter}: {guesses}, off by {median} in the median, {share}"


def calibration() -> list[Calibration]:
    """The history by chapter, in the order of guessing; only the first outcome of each question counts."""
    first: dict[tuple[str, str], float] = {}
    for record in history():
        if record.get("kind") == "outcome":
            factor = record.get("off_by")
            key = (str(record.get("chapter") or "elsewhere"), str(record.get("name")))
            first.setdefault(key, float(factor) if isinstance(factor, int | float) else math.inf)
    chapters = list(dict.fromkeys(stem for stem, _ in first))
    return [_calibrate(stem, [factor for (where, _), factor in first.items() if where == stem]) for stem in chapters]


def history() -> list[dict[str, Any]]:
    """Every record of the reader's file; a line that is no JSON object is passed over."""
    try:
        lines = data_file().read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    records = []
    for line in lines:
        with contextlib.suppress(ValueError):
            record = json.loads(line)
            records += [record] if isinstance(record, dict) else []
    return records


def append(record: Mapping[str, Any]) -> bool:
    """Adds one record in a single write; False where the folder cannot be written."""
    line = (json.dumps(record, ensure_ascii=False) + "\n").encode()
    path = data_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            return os.write(handle, line) == len(line)
        finally:
            os.close(handle)
    except OSError:
        return False


def chapter() -> str:
    """The stem of the notebook this kernel belongs to, or ""."""
    return os.environ.get("WAITLAB_CHAPTER") or Path(os.environ.get("JPY_SESSION_NAME", "")).stem


def data_file() -> Path:
    """Where the history is: predictions.jsonl in the reader's data folder."""
    import platformdirs

    folder = os.environ.get("WAITLAB_DATA") or platformdirs.user_data_dir("waitlab", appauthor=False)
    return Path(folder) / "predictions.jsonl"


def _calibrate(stem: str, factors: Sequence[float]) -> Calibration:
    within = sum(factor <= 2 for factor in factors) / len(factors)
    return Calibration(stem, len(factors), statistics.median(factors), within)
