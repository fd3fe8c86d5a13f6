"""A lab on Docker: what runs where, what strangers can see of it, what changes, what recovers."""

from __future__ import annotations

import os
import re
import subprocess
import time

import psutil
import pytest
from waitlab.errors import ControlError, ServiceDied
from waitlab.load.plans import Plan, Stream, burst
from waitlab.services import by_hand, docker_api, docker_containers, open_lab
from waitlab.services.docker_leftovers import labelled
from waitlab.services.docker_removal import LABEL

OF_THE_PLACE = {"pid", "monotonic_us", "java", "accepting_thread", "jdbc_connections", "r2dbc_connections"}
"""What a server says that is not a limit: it differs from start to start, and from JVM to JVM."""

OTHERS = {"mvc": 1536, "plain": 5632}
"""Services that only some tests ask for, and their memory in MB."""


def inspected(lab):
    """The lab's containers as the engine tells them."""
    label = f'?filters={{"label":["{LABEL}={lab.lab_id}"]}}'
    listed = docker_api.get(lab.engine.host, f"/containers/json{label}", 5)
    return [docker_api.get(lab.engine.host, f"/containers/{each['Id']}/json", 5) for each in listed]


@pytest.mark.usefixtures("webflux")
def test_three_services_run_in_one_project(lab):
    """Beside them those that another test has asked for."""
    services = [each["Config"]["Labels"]["com.docker.compose.service"] for each in inspected(lab)]
    assert {"app", "db", "load"} <= set(services) <= {"app", "db", "load", *OTHERS}
    assert len(labelled(lab.engine.host, f"{LABEL}={lab.lab_id}")) == len(set(services)) + 1  # a network, no volume


def test_both_runtimes_put_the_same_limits_in_force(lab):
    with open_lab("embedded") as other:
        for settings in ({"cpus": 2}, {"cpus": 2, "event_loops": 3, "offload_pool_size": 5, "jdbc_pool_size": 4}):
            here, there = lab.app("webflux", **settings).settings(), other.app("webflux", **settings).settings()
            assert {k: v for k, v in here.items() if k not in OF_THE_PLACE} == {
                k: v for k, v in there.items() if k not in OF_THE_PLACE
            }


@pytest.mark.usefixtures("webflux")
def test_every_published_port_is_on_the_loopback(lab):
    ports = [b for each in inspected(lab) for bound in each["NetworkSettings"]["Ports"].values() for b in bound or ()]
    assert {port["HostIp"] for port in ports} == {"127.0.0.1"}
    proxies = [p for p in psutil.process_iter(["name"]) if p.info["name"] == "docker-proxy"]
    listening = [c.laddr.ip for p in proxies for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert set(listening) <= {"127.0.0.1"}


@pytest.mark.usefixtures("webflux")
def test_no_secret_is_seen_from_outside(lab):
    secrets = [file.read_text() for file in (lab.folder / "secrets" / "containers").iterdir()]
    assert len(secrets) == 2 and all(len(secret) >= 32 for secret in secrets)
    seen = [str(inspected(lab)), subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout]
    seen += [log.read_text(errors="replace") for log in (lab.folder / "logs").iterdir()]
    seen += [(lab.folder / "lab.json").read_text(), str(lab.app("webflux").settings())]
    assert not [text for text in seen for secret in secrets if secret in text]
    assert lab.folder.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("webflux")
def test_containers_are_confined(lab):
    for each in inspected(lab):
        host = each["HostConfig"]
        assert each["Config"]["User"] not in ("", "0", "root"), each["Name"]
        assert host["ReadonlyRootfs"] and host["Init"] and host["CapDrop"] == ["ALL"] and not host["Privileged"]
        assert "no-new-privileges:true" in host["SecurityOpt"]
        assert not [mount for mount in each["Mounts"] if "docker.sock" in mount["Source"]]
        assert host["Memory"] == OTHERS.get(each["Config"]["Labels"]["com.docker.compose.service"], 768) * 2**20
        identity = docker_containers.run_in(lab.engine.host, each["Id"], ["id", "-u"], each["Name"])
        assert int(identity) > 0


@pytest.mark.usefixtures("webflux")
def test_the_role_of_the_lab_is_no_superuser_and_needs_its_password(lab):
    db = next(e for e in inspected(lab) if e["Config"]["Labels"]["com.docker.compose.service"] == "db")
    ask = "PGPASSFILE=/tmp/pgpass psql -wqtAX -h 127.0.0.1 -U lab lab -c 'SELECT rolsuper FROM pg_roles"
    told = docker_containers.run_in(
        lab.engine.host, db["Id"], ["sh", "-c", ask + " WHERE rolname = current_user'"], "db"
    )
    assert told.strip() == "f"
    guess = "PGPASSWORD=guessed psql -wqtAX -h 127.0.0.1 -U lab lab -c 'SELECT 1' 2>&1 || true"
    assert "password authentication failed" in docker_containers.run_in(
        lab.engine.host, db["Id"], ["sh", "-c", guess], "db"
    )
    rules = docker_containers.run_in(lab.engine.host, db["Id"], ["cat", "/data/db/pg_hba.conf"], "db")
    assert "trust" not in rules and rules.split() == ["host", "lab", "lab", "all", "scram-sha-256"]


def test_load_comes_from_the_load_container(lab, webflux):
    assert re.match(r"http://app:\d+$", webflux.url)
    result = lab.run_plan(Plan((Stream("fast", f"{webflux.url}/fast", burst(20)),), "burst"))
    assert [sample.cls for sample in result.samples] == ["ok"] * 20
    within = [(s.sent_s, s.server_started_us / 1e6, s.server_ended_us / 1e6, s.done_s) for s in result.samples]
    assert lab.load_reads_the_clock_of(webflux)
    assert all(sent <= started + 1e-3 and ended <= done + 1e-3 for sent, started, ended, done in within)


def test_a_second_run_starts_at_once(lab, webflux):
    """Within 0.3 s; on a machine so busy that a bare exec takes long, within three times that."""
    plan = Plan((Stream("fast", f"{webflux.url}/fast", burst(1)),), "burst")
    bare = [*lab._load_engine()[:-2], "-c", "import pycurl"]
    delays, execs = [], []
    for _ in range(5):
        asked = time.monotonic()
        delays.append(lab.run_plan(plan).t0 - asked)
        asked = time.monotonic()
        subprocess.run(bare, check=True)
        execs.append(time.monotonic() - asked)
    assert min(delays) < max(0.3, 3 * min(execs))


def test_more_cpus_than_there_are_cap_the_container_and_not_the_jvm(lab):
    more = lab.engine.cpus + 2
    found = lab.app("webflux", cpus=more).settings()
    assert found["available_processors"] == more
    assert found["container_cpus"] == lab.engine.cpus
    container = lab.project.container("app")
    assert container is not None and container.cpu_limit == lab.engine.cpus


@pytest.mark.parametrize("cpus", [0.5, 1.5, "1.5", 0, -1])
def test_fractions_of_a_cpu_are_refused_and_change_nothing(lab, webflux, cpus):
    pid = webflux.pid
    with pytest.raises(ControlError, match="whole numbers"):
        lab.app("webflux", cpus=cpus)
    assert lab.app("webflux").pid == pid


def test_blockhound_reports_in_a_container(lab):
    app = lab.app("webflux", blockhound=True)
    app.delete("/blockhound")
    app.get("/sleep", ms=20)
    assert "sleep" in app.get("/blockhound")["reports"][0]["method"]


def test_an_app_that_was_killed_says_so_and_comes_back(lab, as_it_is, until):
    subprocess.run(["docker", "kill", as_it_is._container], capture_output=True, check=True)
    assert until(lambda: as_it_is.died_s() is not None, 30)
    with pytest.raises(ServiceDied, match="exit code 137"):
        as_it_is.check_alive()
    assert "webflux" not in lab.running()
    assert lab.app("webflux") is as_it_is
    assert "thread" in as_it_is.get("/jdbc", s=0)


def test_a_database_that_was_killed_comes_back_beside_the_same_app(lab, as_it_is, until):
    pid, db = as_it_is.pid, lab.project.container("db")
    subprocess.run(["docker", "kill", db.id], capture_output=True, check=True)
    assert until(lambda: not lab.link.child("db").running, 30)
    lab.app("webflux")
    assert as_it_is.pid == pid
    assert "thread" in as_it_is.get("/jdbc", s=0)


def test_a_load_container_that_was_removed_comes_back(lab, webflux):
    subprocess.run(["docker", "rm", "--force", lab.project.container("load").id], capture_output=True, check=True)
    result = lab.run_plan(Plan((Stream("fast", f"{webflux.url}/fast", burst(3)),), "burst"))
    assert [sample.cls for sample in result.samples] == ["ok"] * 3


@pytest.mark.usefixtures("webflux")
def test_logs_and_threads_are_read_by_hand(lab):
    assert any("availableProcessors=2" in line for line in by_hand.logs("webflux"))
    assert any("ready to accept connections" in line for line in by_hand.logs("db"))
    assert any(thread.name.startswith("reactor-http") for thread in by_hand.threads("webflux"))
    word = next(each for each in by_hand.list_labs() if each.lab_id == lab.lab_id)
    assert {"webflux", "db"} <= set(word.services) and os.getpid() == word.owner
