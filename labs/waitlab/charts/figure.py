"""The figure every chart starts from, and how it is shown: figure, caption with summary, folded data table.

Importing this module imports plotly, so only `chart` and the widget do it, when a first chart is drawn.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from waitlab.charts.page import figure_html
from waitlab.charts.palette import GRID, INK, PAPER, QUIET

FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
ROW = 19
LEGEND_WIDTH = 460
"""What a legend has beside the axis on a narrow page, px."""
LETTER = 7.0
TITLE = 42


class Chart(go.Figure):
    """A plotly figure that shows itself with its caption and its data table."""

    _waitlab_caption: tuple[str, ...] = ()
    _waitlab_table: str = ""

    @property
    def summary(self) -> str:
        """What the figure shows, in words."""
        return str((self.layout.meta or {}).get("summary", ""))

    @property
    def caption(self) -> tuple[str, ...]:
        """The lines under the figure: counts, limits in force, conditions, guesses."""
        return self._waitlab_caption

    @property
    def table(self) -> str:
        """The data as folded HTML."""
        return self._waitlab_table

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, Any]:
        """For JupyterLab plotly's own type; for saved and exported pages HTML that needs no other host."""
        figure = json.loads(self.to_json())
        figure.setdefault("config", {}).update({"displaylogo": False, "responsive": True})
        shown = figure_html(figure, self.summary)
        return {"application/vnd.plotly.v1+json": figure, "text/html": shown, "text/plain": self.summary}

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self._repr_mimebundle_(), raw=True)
        words = {"text/html": self.words(), "text/plain": "\n".join(self.caption)}
        display(words, raw=True)

    def words(self) -> str:
        """Summary, caption and data table as HTML."""
        return caption_html(self.summary, self.caption, self.table)


def caption_html(summary: str, lines: Sequence[str], table: str = "") -> str:
    """The text under a figure: the caption for all, the summary for those who cannot see the figure."""
    body = "".join(f"<div>{html.escape(line)}</div>" for line in lines)
    told = f"<details><summary>The figure in words</summary>{html.escape(summary)}</details>" if summary else ""
    return f'<div style="max-width:860px;font-size:90%;line-height:1.45">{body}{told}{table}</div>'


def new(title: str, x: str, y: str, *, height: int = 420, kind: type[Any] = Chart) -> Any:
    """An empty figure in the book's dress: title on the left, axes named with their units, light grid."""
    axis = {
        "gridcolor": GRID, "zeroline": False, "linecolor": QUIET, "ticks": "outside", "tickcolor": QUIET,
        "automargin": True, "title": {"standoff": 10},
    }  # fmt: skip
    figure = kind()
    figure.update_layout(
        template="none",
        font={"family": FONT, "size": 13, "color": INK},
        paper_bgcolor=PAPER,
        plot_bgcolor=PAPER,
        title={
            "text": title, "x": 0.0, "xref": "container", "xanchor": "left", "y": 1.0, "yref": "container",
            "yanchor": "top", "pad": {"t": 14, "l": 16}, "font": {"size": 17},
        },
        xaxis={**axis, "title": {"text": x, "standoff": 10}},
        yaxis={**axis, "title": {"text": y, "standoff": 10}},
        legend={
            "orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom",
            "itemsizing": "trace",
        },
        margin={"l": 70, "r": 24, "t": 84, "b": 58},
        height=height,
        showlegend=True,
        autosize=True,
        hoverlabel={"font": {"family": FONT}},
        separators=".,",
    )  # fmt: skip
    return figure


def finish(figure: Any) -> Any:
    """Makes room for the legend below the title; the figure is as tall as a narrow page needs."""
    named = [trace.name for trace in figure.data if getattr(trace, "showlegend", False) is not False and trace.name]
    names = [str(name).split("<br>") for name in named]
    wide = [LETTER * max(map(len, lines)) + 52 for lines in names]
    columns = len(names) if sum(wide) < LEGEND_WIDTH else int(LEGEND_WIDTH / max(wide)) or 1
    rows = math.ceil(len(names) / max(columns, 1)) * max(map(len, names), default=1)
    top = TITLE + ROW + 14
    height = (figure.layout.height or 420) + max(top + ROW * (rows - 1) - (figure.layout.margin.t or 0), 0)
    below = {"orientation": "h", "yref": "container", "y": 1 - TITLE / height, "yanchor": "top"}
    figure.update_layout(margin={"t": top if names else TITLE + 14}, height=height, legend=below)
    return figure


def dressed(pattern: str | Sequence[str]) -> dict[str, Any]:
    """A bar's hatching: white lines over its colour."""
    return {
        "shape": pattern,
        "fillmode": "overlay",
        "fgcolor": "rgba(255,255,255,0.75)",
        "solidity": 0.22,
        "size": 8,
    }


def say(figure: Any, summary: str, caption: Sequence[str], table: str) -> Any:
    """Gives the figure its words."""
    figure.update_layout(meta={"summary": summary, "caption": list(caption)})
    figure._waitlab_caption = tuple(caption)
    figure._waitlab_table = table
    return figure
