"""A lab with the real app: what runs, what changes live, what restarts, and what recovers."""

from __future__ import annotations

import contextlib
import os
import signal

import httpx
import psutil
import pytest
from waitlab.errors import ControlError, ServiceDied, ServiceError
from waitlab.services import by_hand, state


def tree(pid):
    """A process with all that came from it."""
    return [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]


def servers(lab):
    """The processes of the lab's servers."""
    return [p for name in ("webflux", "db") for p in tree(lab.link.child(name).pid)]


def of_the_living(processes, ask):
    """What each process says; one of PostgreSQL's may have come to its end meanwhile."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(ask(process))
    assert len(found) > len(processes) / 2
    return found


def test_starting_twice_returns_the_running_one(lab, webflux):
    pid, restarts = webflux.pid, webflux.restarts
    assert lab.app("webflux") is webflux
    assert lab.app("webflux", cpus=2) is webflux
    assert (webflux.pid, webflux.restarts) == (pid, restarts)
    assert lab.running()["webflux"] is webflux


def test_the_server_and_we_read_one_clock(webflux):
    assert webflux.same_clock


def test_what_was_asked_is_what_the_server_reads_back(webflux):
    found = webflux.settings()
    assert found["available_processors"] == 2
    assert found["event_loops"] == 4
    assert found["bounded_elastic_size"] == found["offload_pool_size"] == 20


def test_a_live_change_keeps_the_process(lab, webflux):
    pid = webflux.settings()["pid"]
    assert lab.app("webflux", cpus=2, offload_pool_size=3, jdbc_pool_size=7) is webflux
    found = webflux.settings()
    assert (found["offload_pool_size"], found["jdbc_pool_size"], found["pid"]) == (3, 7, pid)


@pytest.mark.parametrize(
    "wrong", [{"cpus": 0}, {"cpus": True}, {"jdbc_pool_size": 1000}, {"accept": "both"}, {"colour": 1}]
)
def test_a_wrong_setting_changes_nothing(lab, webflux, wrong):
    before = webflux.settings()
    with pytest.raises(ControlError):
        lab.app("webflux", **wrong)
    after = webflux.settings()
    assert {**before, "monotonic_us": 0} == {**after, "monotonic_us": 0}


def test_a_pool_that_the_database_cannot_serve_is_refused_with_both_numbers(lab):
    with pytest.raises(ControlError, match=r"jdbc_pool_size=300 .* at most 287"):
        lab.app("webflux", jdbc_pool_size=300)


def test_an_unknown_app_offers_the_nearest(lab):
    with pytest.raises(ControlError, match="Try: webflux"):
        lab.app("webflix")


def test_a_value_that_the_server_refuses_is_a_sentence(webflux):
    with pytest.raises(ServiceError, match="HTTP 400"):
        webflux.change(jdbc_pool_size=-1)
    assert webflux.settings()["jdbc_pool_size"] == 10


@pytest.mark.usefixtures("webflux")
def test_every_port_is_on_the_loopback(lab):
    connections = of_the_living(servers(lab), lambda p: p.net_connections("inet"))
    listening = [c.laddr for each in connections for c in each if c.status == psutil.CONN_LISTEN]
    assert len(listening) >= 2
    assert {address.ip.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}


def test_no_secret_is_in_a_command_line_an_environment_or_a_log(lab, webflux):
    secrets = (lab.db.password, webflux._token)
    processes = [*servers(lab), psutil.Process(lab.link.pid)]
    seen = of_the_living(processes, lambda p: " ".join(p.cmdline()) + str(p.environ()))
    seen += [log.read_text(errors="replace") for log in (lab.folder / "logs").iterdir()]
    seen += [(lab.folder / "lab.json").read_text(), repr(webflux), repr(lab.db), str(webflux.settings())]
    assert not [text for text in seen for secret in secrets if secret in text]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Lab-Token": "guessed"},
        {"Origin": "http://evil.example"},
        {"Host": "evil.example"},
    ],
)
def test_a_stranger_changes_nothing(webflux, headers):
    ours = {"X-Lab-Token": webflux._token} if {"Origin", "Host"} & set(headers) else {}
    reply = httpx.put(f"{webflux.control_url}/settings", json={"jdbc_pool_size": 3}, headers={**ours, **headers})
    assert reply.status_code == 403
    assert webflux.settings()["jdbc_pool_size"] == 10


@pytest.mark.usefixtures("webflux")
def test_the_role_of_the_lab_is_no_superuser_and_needs_its_password(lab):
    import pg8000.native as driver

    known = {"host": "127.0.0.1", "port": lab.db.port, "database": "lab", "timeout": 5}
    connection = driver.Connection("lab", password=lab.db.password, **known)
    assert connection.run("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == [[False]]
    connection.close()
    with pytest.raises(driver.DatabaseError):
        driver.Connection("lab", password="guessed", **known)


def test_a_dump_names_every_loop(webflux):
    webflux.get("/jdbc-isolated", s=0)
    threads = webflux.threads()
    loops = [t for t in threads if t.name.startswith("reactor-http")]
    assert 1 <= len(loops) <= 4
    assert all(t.top_frames and not t.virtual for t in loops)
    assert any("oundedElastic" in t.name for t in threads)
    assert list((state.read(webflux._lab.folder).folder / "work").glob("threads-*")) == []


def test_a_frozen_database_recovers_without_a_restart(lab, webflux, thaw):
    database = lab.link.child("db").pid
    assert "thread" in webflux.get("/jdbc-isolated", s=0)
    frozen = [process.pid for process in tree(database)]
    thaw += frozen
    for pid in frozen:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(f"{webflux.url}/jdbc-isolated?s=0", timeout=0.5)
    assert httpx.get(f"{webflux.url}/fast", timeout=30).status_code == 200
    for pid in frozen:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    assert "thread" in webflux.get("/jdbc-isolated", s=0)
    assert lab.link.child("db").pid == database


def test_a_database_that_was_killed_comes_back_where_it_was(lab, webflux, until):
    port, pid = lab.db.port, webflux.pid
    assert webflux.database_died_s() is None
    os.kill(lab.link.child("db").pid, signal.SIGKILL)
    assert until(lambda: not lab.db.running(), 20)
    assert webflux.database_died_s() is not None
    lab.app("webflux", cpus=2)
    assert (lab.db.port, webflux.pid) == (port, pid)
    assert webflux.database_died_s() is None
    assert "thread" in webflux.get("/jdbc", s=0)


def test_two_labs_at_once_do_not_meet(lab, webflux, own):
    other = own("webflux")
    mine = {p.pid for p in servers(lab)}
    assert not mine & set(other.pids)
    word = state.read(other.folder)
    assert word.services["webflux"]["url"] != webflux.url
    assert word.services["db"]["port"] != lab.db.port
    other.process.communicate("\n", timeout=60)
    webflux.check_alive()
    assert "thread" in webflux.get("/jdbc", s=0)


def test_a_lab_left_running_is_found_read_and_stopped_by_hand(webflux, own):
    owner = own("detached")
    owner.process.wait(60)
    left = next(each for each in by_hand.list_labs() if each.lab_id == owner.lab_id)
    assert left.alive and left.detached
    assert {"db", "webflux"} <= set(left.services)
    assert any("availableProcessors=2" in line for line in by_hand.logs("webflux"))
    assert any(t.name.startswith("reactor-http") for t in by_hand.threads("webflux"))
    with pytest.raises(ServiceError, match="db is no Java server"):
        by_hand.threads("db")
    assert owner.lab_id in by_hand.down()
    assert owner.left() == []
    webflux.check_alive()


def test_the_machine_is_described(lab):
    machine = lab.machine()
    assert machine["cpus"] >= 1
    assert machine["memory_mb"] > 500
    assert machine["java"].startswith("25")
    assert machine["postgres"].startswith("17")
    assert machine["os"] and machine["cpu_model"]


def test_other_cpus_restart_the_app_beside_the_same_database(lab, webflux):
    pid, database, restarts = webflux.pid, lab.link.child("db").pid, webflux.restarts
    lab.app("webflux", cpus=4, accept="own")
    found = webflux.settings()
    assert (found["available_processors"], found["accept"]) == (4, "own")
    assert webflux.pid != pid
    assert not psutil.pid_exists(pid)
    assert webflux.restarts == restarts + 1
    assert lab.link.child("db").pid == database
    assert "thread" in webflux.get("/jdbc", s=0)


def test_a_server_that_was_killed_says_so_and_starts_afresh(lab, as_it_is, until):
    os.kill(as_it_is.pid, signal.SIGKILL)
    assert until(lambda: as_it_is.died_s() is not None, 20)
    with pytest.raises(ServiceDied, match="by signal 9"):
        as_it_is.check_alive()
    with pytest.raises(ServiceDied):
        as_it_is.settings()
    assert "webflux" not in lab.running()
    assert lab.app("webflux") is as_it_is
    as_it_is.check_alive()


def test_a_supervisor_that_was_killed_is_replaced_with_all_it_watched(lab, as_it_is, until):
    old, pids = lab.folder, [p.pid for p in servers(lab)]
    os.kill(lab.link.pid, signal.SIGKILL)
    assert until(lambda: not lab.link.alive, 20)
    with pytest.raises(ServiceDied, match=r"^The supervisor of webflux ended by itself"):
        as_it_is.check_alive()
    assert lab.app("webflux") is as_it_is
    assert "thread" in as_it_is.get("/jdbc", s=0)
    assert until(lambda: not any(map(psutil.pid_exists, pids)), 20)
    assert not old.exists()
