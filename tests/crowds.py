"""A lab whose plain JVM is made up: what `admission` and `cpu-bound` print, without a JVM."""

import time

from waitlab import experiments
from waitlab.errors import MainEnded
from waitlab.experiments.measure import measure

ADMISSION = experiments.get("admission")
COMPUTING = experiments.get("cpu-bound")
FEW = 10
IN_FORCE = {"heap_max_mb": 1979, "gc": "serial", "java": "25", "available_processors": 2}


class FakeLab:
    """A lab whose plain JVM serves two at a time, 20 ms each; the last `unserved` of ten end as they are told to."""

    runtime, lab_id, died_s = "embedded", "fake", None

    def __init__(self, unserved=0, how=1, ends_with=None, told=None):
        self.unserved, self.how, self.ends_with, self.told_in_force = unserved, how, ends_with, told or {}

    def machine(self):
        return {"cpus": 2}

    def database_died_s(self):
        return self.died_s

    def run_main(self, name, options, *, stop, told=None, **how):  # noqa: ARG002
        self.name, self.options, self.asked = name, options, how
        if name == "cpu-bound":
            return self._computes(options, told)
        pool = options["pool_size"] if options["threads"] == "fixed" else 0
        told(
            {
                **IN_FORCE,
                "heap_max_mb": how["heap_mb"] * 29 // 30,
                **{n: options[n] for n in ("threads", "gate", "capacity")},
                "pool_size": pool,
            }
            | self.told_in_force
        )
        for line in self._seen():
            told(line)
        if self.ends_with:
            raise self.ends_with
        told({"heap_peak_mb": 2.5, "collected_at_ms": 50, "in_flight_peak": 2})
        return []

    def _seen(self):
        start = time.monotonic_ns() // 1000
        served = FEW - self.unserved
        rows = [(i, 0, i % 2 + 1, i // 2 * 20_000, (i // 2 + 1) * 20_000) for i in range(served)]
        lost = [] if self.ends_with else [(i, self.how, 0, -1, 1000) for i in range(served, FEW)]
        for part in (rows[:4], rows[4:] + lost):
            yield {"start_us": start, "seen": [0, 2, 5.5, 40, 2, 6.0], "done": [n for row in part for n in row]}

    def _computes(self, options, told):
        lines = [{**IN_FORCE, "pool_size": options["pool_size"], "warm": 3}]
        walls = {"cores": 100.0, "fixed": 110.0, "virtual": 105.0}
        for number in range(-2, options["rounds"] + 1):
            slow = 5 if number < 1 else 1
            lines += [
                {"round": number, "way": way, "wall_ms": (ms + number) * slow, "primes": 7} for way, ms in walls.items()
            ]
        for line in lines:
            told(line)
        return lines


def run(lab=None, **given):
    return measure(ADMISSION, ADMISSION.settle({"requests": FEW, "capacity": 2, **given}), lab or FakeLab())


def ended(how):
    return MainEnded("It ended.", how=how, lines=[], found="", tip="less")
