"""Servers: chosen, started, watched, stopped.

open_lab() -> Lab -> .app("webflux", cpus=4) -> App     runtimes.py  lab.py  app.py  apps.py
docker_lab.py    services of compose.yaml             docker_project.py  docker_probe.py
embedded.py      JVM and PostgreSQL as children         postgres.py  accounts.py  credentials.py
supervisor.py    the process that owns them             link.py  processes.py  state.py
by_hand.py       ps, logs, threads, down                threads.py  machine.py
"""

from waitlab.services.app import App
from waitlab.services.lab import Lab
from waitlab.services.runtimes import Choice, choose_runtime, open_lab
from waitlab.services.threads import ThreadInfo

__all__ = ["App", "Choice", "Lab", "ThreadInfo", "choose_runtime", "open_lab"]
