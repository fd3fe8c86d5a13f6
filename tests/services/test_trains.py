"""The trains on a JVM and a PostgreSQL: who waits where, who holds a connection, what the breaker lets through."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest
from waitlab.errors import ControlError, ServiceError
from waitlab.load.plans import Plan, Stream, burst
from waitlab.services import App
from waitlab.services.embedded import EmbeddedLab

CLIENTS = ("resttemplate", "restclient", "webclient-block", "webclient-mono")
BLOCKING = {
    "resttemplate": "JdkClientHttpRequest",
    "restclient": "JdkClientHttpRequest",
    "webclient-block": "Mono.block",
}
IN_FLIGHT = 60


@pytest.fixture
def api(lab: EmbeddedLab) -> App:
    """The slow API."""
    return lab.app("webflux")


@pytest.fixture
def trains(lab: EmbeddedLab, api: App) -> App:
    """The app that asks it, with a small pool of connections."""
    return _trains(lab, api)


def _trains(lab: EmbeddedLab, api: App, **settings: object) -> App:
    app = lab.app("mvc", trains=True, jdbc_pool_size=4, connection_timeout_ms=1500, **settings)
    app.put("/api", url=api.url)
    return app


def held_workers(lab: EmbeddedLab, api: App, app: App, client: str) -> Counter[str]:
    """What the workers wait in while the API holds a burst, by the frame that tells."""
    url = f"{app.url}/arrivals?client={client}&api=slow&api_ms=4000"
    asked = api.get("/external")["waiting"] + IN_FLIGHT
    with ThreadPoolExecutor(1) as aside:
        running = aside.submit(lab.run_plan, Plan((Stream("slow", url, burst(IN_FLIGHT), 20),), "burst"))
        while not running.done() and api.get("/external")["waiting"] < asked:
            time.sleep(0.01)
        workers = [thread for thread in app.threads() if "-exec-" in thread.name]
        assert {sample.cls for sample in running.result().samples} == {"ok"}
    frames = ("JdkClientHttpRequest", "Mono.block", "TaskQueue")
    told = (next((f for f in frames if any(f in frame for frame in w.top_frames)), "busy") for w in workers)
    return Counter(told)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_dump_tells_who_keeps_a_worker_and_in_what(lab, api, trains, client):
    held = held_workers(lab, api, trains, client)
    if client in BLOCKING:
        assert held[BLOCKING[client]] == IN_FLIGHT
    else:
        assert held["JdkClientHttpRequest"] + held["Mono.block"] + held["busy"] <= 2


@pytest.mark.parametrize("view", [False, True])
def test_who_holds_a_connection_during_the_call(lab, api, view):
    app = _trains(lab, api, open_in_view=view)
    assert app.settings()["open_in_view"] is view
    for boundary in ("transaction", "osiv", "split"):
        for client in CLIENTS:
            found = app.get("/user/arrivals", boundary=boundary, client=client, api="ok", id=7)
            kept = view or (boundary == "transaction" and client != "webclient-mono")
            assert found["connection_held_in_call"] is kept, (boundary, client)


def test_a_held_pool_turns_users_away_and_says_how_many(trains):
    trains.get("/user", id=1)
    trains.delete("/watch")
    slow = f"{trains.url}/user/arrivals?boundary=transaction&client=restclient&api=slow&api_ms=3000"
    with ThreadPoolExecutor(12) as users:
        replies = list(users.map(lambda _: httpx.get(slow, timeout=20, trust_env=False).status_code, range(12)))
    seen = trains.get("/watch")
    assert Counter(replies) == {200: 4, 503: 8}
    assert (seen["pool_timeouts"], seen["pool_active_peak"]) == (8, 4)
    assert 8 <= seen["pool_waiting_peak"] <= 12  # the four served wait too, for as long as a connection takes to open
    assert max(seen["samples"]["pool_active"]) == 4 and seen["held_ms_max"] >= 3000


def test_a_ticket_outlives_the_error_of_a_returned_mono_only(trains):
    kept = {client: trains.post("/tickets", client=client)["kept"] for client in CLIENTS}
    assert kept == {"resttemplate": False, "restclient": False, "webclient-block": False, "webclient-mono": True}


def test_the_breaker_opens_on_an_api_that_is_down_and_shows_what_it_has(trains):
    trains.put("/breaker", timeout_ms=50, wait_open_ms=60_000, window=4, empty_cache="true")
    assert trains.get("/board", api="ok")["source"] == "fresh"
    seen = [trains.get("/board", api="down") for _ in range(8)]
    assert [each["source"] for each in seen] == ["stale"] * 8
    told = trains.get("/breaker")
    assert [each["state"] for each in told["states"]] == ["closed", "open"]
    assert told["timeouts"] == 3 and told["refused_by_breaker"] == 5 == sum(told["answers"]["refused"])
    assert all(earlier["age_ms"] < later["age_ms"] for earlier, later in itertools.pairwise(seen))


@pytest.mark.parametrize("url", ["http://example.org", "https://127.0.0.1:1", "http://127.0.0.1:1/admin", ""])
def test_the_lab_names_no_api_but_its_own(api, trains, url):
    with pytest.raises(ServiceError, match="url must be"):
        trains.put("/api", url=url)
    assert trains.settings()["api_url"] == api.url


def test_a_database_that_was_killed_comes_back_with_the_users(lab, trains, until):
    trains.get("/user", id=7)
    os.kill(lab.link.child("db").pid, signal.SIGKILL)
    assert until(lambda: not lab.db.running(), 5.0)
    lab.app("mvc", **trains.asked)
    assert until(lambda: trains.answers("/user?id=7"), 10.0)


def test_the_trains_start_from_a_cache_of_their_own_and_are_gone_without(lab, trains):
    assert "-XX:AOTCache=trains.aot" in psutil.Process(trains.pid).cmdline()
    plain = lab.app("mvc", trains=False)
    assert "-XX:AOTCache=app.aot" in psutil.Process(plain.pid).cmdline()
    assert httpx.get(f"{plain.url}/arrivals?client=restclient", trust_env=False).status_code == 404
    with pytest.raises(ControlError, match="open_in_view"):
        lab.app("mvc", open_in_view=True)
