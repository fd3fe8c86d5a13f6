"""A process that owns a lab, for tests of how it ends: tells of its lab, then waits for a line.

owner.py webflux          a lab with the app
owner.py db               a lab with the database alone
owner.py small [fork]     a lab with one small server; with a forked copy of the owner that stays
owner.py detached         a lab that is left running
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from waitlab.services import state
from waitlab.services.embedded import EmbeddedLab
from waitlab.services.link import Link


def small() -> Path:
    """A lab with a child that does nothing."""
    folder = state.new_folder()
    link = Link(folder)
    idle = [sys.executable, "-S", "-c", "import signal; signal.pause()"]
    link.start("idle", argv=idle, env={}, cwd="/", log=str(folder / "logs" / "idle.log"))
    kept.append(link)
    return folder


def embedded(what: str) -> Path:
    """A lab with the app and its database, or with the database alone."""
    lab = EmbeddedLab("for a test", detached=what == "detached")
    kept.append(lab)
    if what == "db":
        lab.db.ensure()
    else:
        lab.app("webflux")
    return lab.folder


kept: list[object] = []
what, how = sys.argv[1], sys.argv[2:]
folder = small() if what == "small" else embedded(what)
if "fork" in how and os.fork() == 0:
    os.close(1)
    signal.alarm(30)
    signal.pause()
print(json.dumps({"lab_id": folder.name, "folder": str(folder)}), flush=True)
if what != "detached":
    sys.stdin.readline()
