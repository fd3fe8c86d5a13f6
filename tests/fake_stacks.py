"""The servers of four-stacks, made up: under too much load, as their gauges tell."""

from __future__ import annotations

from waitlab.errors import ServiceDied
from waitlab.load.client import LoadResult
from waitlab.load.samples import Sample

T0 = 100.0
CLIENT = {"retransmits": 0, "saturated": False, "why": "", "cpu_share": 0.1}
GAUGES = {
    "cpu_us": 0, "machine_ticks": 0, "machine_busy_ticks": 0, "accept": 0, "accept_virtual": 0,
    "workers_busy": 200, "workers_waiting": 400, "virtual_in_flight": 600, "offload_busy": 20, "offload_waiting": 580,
    "jdbc_busy": 10, "jdbc_waiting": 190, "r2dbc_busy": 10, "r2dbc_waiting": 590,
}  # fmt: skip


class Server:
    """An app under too much load, as its gauges tell."""

    pid, same_clock = 7, True

    def __init__(self, name, gauges):
        self.name, self.url, self.gauges = name, "http://127.0.0.1:1000", {**GAUGES, **gauges}
        self.calls, self.asked, self.dead, self.open = [], {}, False, 250

    def settings(self):
        pools = {"jdbc_connections": self.open, "r2dbc_connections": self.open, "available_processors": 2}
        return {"virtual_port": 2000, **pools, **self.asked}

    def get(self, path):
        self.calls.append(("GET", path))
        at = [int((T0 + i * 0.05) * 1e6) for i in range(100)]
        return {"at_us": at, "series": {k: [v] * 100 for k, v in self.gauges.items()}, "platform_threads_peak": 217}

    def delete(self, path):
        self.calls.append(("DELETE", path))

    def change(self, **live):
        self.asked |= live

    def check_alive(self):
        if self.dead:
            raise ServiceDied(f"{self.name} ended by itself.", found="", tip="again")

    def died_s(self):
        return T0 + 1 if self.dead else None

    def database_died_s(self):
        return None


class Lab:
    """A lab with 600 requests in flight at 700 a second, sent as late as told."""

    lab_id = "lab"

    def __init__(self, late_s=0.0, dies=False, **gauges):
        self.servers, self.plans, self.late_s, self.dies, self.gauges = {}, [], late_s, dies, gauges
        self.partial = False

    def running(self):
        return self.servers

    def app(self, name, **settings):
        server = self.servers.setdefault(name, Server(name, self.gauges))
        server.asked = settings
        return server

    def run_plan(self, plan, _progress, _stop):
        self.plans.append(plan)
        stream = plan.streams[0]
        sent = [T0 + at + self.late_s for at in stream.at_s]
        samples = tuple(
            Sample(stream.name, i, T0 + at, sent[i], None, sent[i] + 6 / 7, 200, "ok", "exec-1", None, None)
            for i, at in enumerate(stream.at_s)
        )
        for server in self.servers.values():
            server.dead = self.dies and stream.name == "requests"
        return LoadResult(T0, samples, dict(CLIENT), self.partial and stream.name == "requests")
