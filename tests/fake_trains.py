"""The two servers of the WebClient lab, made up: they answer control calls as the real ones do."""

import time

from waitlab.load.client import LoadResult
from waitlab.load.samples import Sample
from waitlab.services.threads import ThreadInfo

T0 = 1000.0
BLOCK = ("java.base/jdk.internal.misc.Unsafe.park(Native Method)", "reactor.core.publisher.Mono.block(Mono.java:1)")


class FakeApp:
    """Answers the control calls of both servers as they do."""

    name, pid, url, same_clock = "mvc", 7, "http://127.0.0.1:1", True

    def __init__(self, lab):
        self.lab = lab

    def settings(self):
        return {"virtual_port": 2, "jdbc_connections": 999, "pool_size": 200, "workers_busy": self.lab.hanging}

    def threads(self):
        return [ThreadInfo(f"x-exec-{i}", "WAITING", False, BLOCK) for i in range(self.lab.hanging)]

    def check_alive(self):
        pass

    def database_died_s(self):
        return self.lab.database_died_s

    def get(self, path, **params):
        self.lab.asked.append((path, params))
        if path.startswith("/user/arrivals"):
            return {"connection_held_in_call": "transaction" in path}
        if path == "/cpu":
            return {"process_cpu_us": self.lab.cpu_us}
        return {
            "/external": {"waiting": self.lab.hanging},
            "/threads/peak": {"platform_threads_peak": 61, "platform_threads_baseline": 30},
            "/watch": self.lab.watch,
            "/breaker": self.lab.breaker,
            "/board": {},
        }[path]

    def put(self, path, **params):
        self.lab.put.append((path, params))
        if params.get("hurry") == "true":
            self.lab.hanging = 0
        return self.lab.breaker if path == "/breaker" else {}

    def post(self, path, **params):  # noqa: ARG002
        kept = params["client"] == "webclient-mono"
        return {"client": params["client"], "failed": "no", "rows_before": 1, "rows_after": 1 + kept, "kept": kept}

    def delete(self, path):
        self.lab.deleted.append(path)
        return {}


class FakeLab:
    """Two servers whose every request is answered after 100 ms, and a load engine that is never late."""

    runtime = "embedded"

    def __init__(self, hanging=3, answer=None):
        self.lab_id = str(time.monotonic_ns())
        self.hanging, self.cpu_us, self.costs_us = hanging, 0, []
        self.asked, self.put, self.deleted, self.plans, self.apps = [], [], [], [], []
        self.answer = answer or (lambda stream, index, at: (100.0, "ok"))
        self.watch, self.breaker = {}, {}
        self.up, self.partial, self.database_died_s = (), False, None

    def running(self):
        return {name: FakeApp(self) for name in self.up}

    def machine(self):
        return {"cpus": 2}

    def app(self, name, **settings):
        self.apps.append((name, settings))
        return FakeApp(self)

    def run_plan(self, plan, progress, stop):  # noqa: ARG002
        self.plans.append(plan)
        self.cpu_us += self.costs_us.pop(0) if self.costs_us else 30_000
        samples = tuple(self._sample(s, i, at) for s in plan.streams for i, at in enumerate(s.at_s))
        facts = {"retransmits": 0, "cpu_share": 0.1, "saturated": False, "why": ""}
        measured = not plan.streams[0].name.startswith(("floor", "warm", "look"))
        return LoadResult(T0, samples, facts, self.partial and measured)

    def _sample(self, stream, index, at):
        took, cls = (1.0, "ok") if stream.name.startswith(("floor", "warm")) else self.answer(stream, index, at)
        sent, done = T0 + at, T0 + at + took / 1000
        status = {"ok": 200, "rejected": 503}.get(cls, 504)
        return Sample(
            stream.name, index, sent, sent, done, done, status, cls, "t", round(sent * 1e6), round(done * 1e6)
        )
