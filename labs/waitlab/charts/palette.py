"""One colour, marker and pattern per approach, through the whole book.

The colours are told apart by colour-blind readers (after Okabe and Ito); each comes with a marker and a
hatching, so that nothing is said by colour alone. Red belongs to errors and to nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

INK = "#1f2933"
QUIET = "#52606d"
GRID = "#e4e7eb"
PAPER = "#ffffff"
THEORY = "#3e4c59"
GUESS = "#8e2f8e"
ERROR = "#c8102e"
WAITING = "#c3cad2"
INNOCENT = "#4b5563"
VOID = "#9aa5b1"
DASHES = ("dash", "dot", "dashdot", "longdash")

SYMBOLS = (
    "cross", "star-square", "triangle-down", "hexagram", "bowtie", "triangle-left", "hourglass", "star",
    "triangle-right", "star-diamond", "diamond-tall",
)  # fmt: skip
"""For the second Run of a figure and those after it; none of them is an approach's own."""


@dataclass(frozen=True, slots=True)
class Look:
    """How an approach looks: colour, marker symbol, bar pattern."""

    colour: str
    symbol: str
    pattern: str


ON_THE_LOOP = Look("#d98200", "square", "")
OFFLOADED = Look("#0072b2", "diamond", "\\")
REACTIVE = Look("#009e73", "circle", ".")
PLATFORM = Look("#7a4ea3", "hexagon", "x")
VIRTUAL = Look("#3a9fd8", "triangle-up", "-")
CORES = Look("#7d6608", "pentagon", "|")
OTHER = Look("#4b5563", "circle", "")

APPROACHES = {
    "sleep": ON_THE_LOOP, "jdbc": ON_THE_LOOP, "jdbc-publish": ON_THE_LOOP, "onloop": ON_THE_LOOP,
    "jdbc-isolated": OFFLOADED, "callable-publish": OFFLOADED, "offload": OFFLOADED,
    "webflux-jdbc-offloaded": OFFLOADED,
    "r2dbc": REACTIVE, "webflux-r2dbc": REACTIVE, "none": REACTIVE, "webclient-mono": REACTIVE,
    "mvc-platform": PLATFORM, "platform": PLATFORM, "fixed": PLATFORM, "resttemplate": PLATFORM,
    "restclient": PLATFORM, "webclient-block": OFFLOADED,
    "mvc-virtual": VIRTUAL, "virtual": VIRTUAL,
    "cores": CORES,
}  # fmt: skip

NO_BLOCKER = "no blocker"
NAMED_BY = ("endpoint", "stack", "where", "client", "threads")


def approach(settings: Mapping[str, Any]) -> str:
    """The name of the approach that these settings describe, or ""."""
    if settings.get("k") == 0:
        return NO_BLOCKER
    if "client" in settings and settings.get("threads") == "virtual":
        return "virtual"
    return next((str(settings[key]) for key in NAMED_BY if key in settings), "")


def look(settings: Mapping[str, Any]) -> Look:
    """The look of the approach that these settings describe."""
    return APPROACHES.get(approach(settings), OTHER)


def symbol(index: int) -> str:
    """A marker for the n-th Run after a figure's first: filled at first, then the open ones."""
    return SYMBOLS[index % len(SYMBOLS)] + ("-open" if index // len(SYMBOLS) % 2 else "")
