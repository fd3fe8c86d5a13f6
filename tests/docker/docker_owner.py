"""A process that owns a lab on Docker, for tests of how it ends: tells of its lab, then waits for a line.

docker_owner.py webflux       a lab with the app, told when it runs
docker_owner.py starting      the same, told before anything is started
docker_owner.py interrupted   a lab with the app; measures until it is interrupted, then tells whether the app answers
"""

from __future__ import annotations

import json
import sys

from waitlab.load.plans import Plan, Stream, steady
from waitlab.services import docker_probe
from waitlab.services.docker_lab import DockerLab


def tell(**said: object) -> None:
    """One line for the test."""
    print(json.dumps(said), flush=True)


what = sys.argv[1]
lab = DockerLab("for a test", docker_probe.probe_engine())
told = {"lab_id": lab.lab_id, "folder": str(lab.folder)}
if what == "starting":
    tell(**told)
app = lab.app("webflux")
if what != "starting":
    tell(**told)
if what == "interrupted":
    plan = Plan((Stream("fast", f"{app.url}/fast", steady(20, 60)),), "steady")
    result = lab.run_plan(plan, lambda done, of: tell(done=done))
    tell(partial=result.partial, sent=sum(s.cls == "ok" for s in result.samples), thread=app.get("/fast")["thread"])
else:
    tell(running=sorted(lab.running()))
sys.stdin.readline()
