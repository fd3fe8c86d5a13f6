"""A figure as HTML that needs no other host: plotly.js packed once a notebook, then a small script a figure.

Set WAITLAB_PLOTLYJS=shared where the page brings plotly.js itself (the site does).
"""

from __future__ import annotations

import base64
import gzip
import html
import itertools
import json
import os
from functools import cache
from typing import Any

from waitlab.predictions import cell_id

_numbers = itertools.count(1)
_carrier: list[str] = []

_LOADER = """<script>
window.waitlabPlotly = window.waitlabPlotly || (async () => {
  if (window.Plotly) return;
  const packed = Uint8Array.from(atob("%s"), c => c.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.text = await new Response(plain).text();
  document.head.appendChild(script);
})();
</script>"""

_FIGURE = """<div id="%(name)s" role="img" aria-label="%(summary)s"
     style="width:100%%;height:%(height)dpx"></div>
<script>(() => {
  const draw = async () => {
    await window.waitlabPlotly;
    const f = %(figure)s;
    if (window.Plotly) Plotly.newPlot("%(name)s", f.data, f.layout, f.config);
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", draw); else draw();
})();</script>"""


def figure_html(figure: dict[str, Any], summary: str) -> str:
    """The figure as HTML; the first one of a notebook carries plotly.js (2 MB packed)."""
    body = {
        "name": f"waitlab-figure-{os.getpid()}-{next(_numbers)}",
        "summary": html.escape(summary, quote=True),
        "height": figure["layout"].get("height", 420),
        "figure": json.dumps(figure).replace("</", "<\\/").replace("<!--", "<\\!--"),
    }
    return (_LOADER % packed() if _carries() else "") + _FIGURE % body


def _carries() -> bool:
    """True in the first cell that shows a figure, also when that cell runs again."""
    if os.environ.get("WAITLAB_PLOTLYJS") == "shared":
        return False
    here = cell_id()
    if not _carrier:
        _carrier.append(here)
        return True
    return bool(here) and here == _carrier[0]


@cache
def packed() -> str:
    """plotly.js, packed for a page; once a process (half a second)."""
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 6, mtime=0)).decode()
