"""The trains on a JVM and a PostgreSQL: who waits where, who holds a connection, what the breaker lets through."""

from __future__ import annotations

import itertools
import os
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

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
def api(lab: EmbeddedLab) -> Iterator[App]:
    """The API, which lets nobody wait any longer once the test is over."""
    app = lab.app("webflux")
    yield app
    app.put("/external", hurry="true")
    app.put("/external", hurry="false")


@pytest.fixture
def trains(lab: EmbeddedLab, api: App) -> App:
    """The app that asks it, with a small pool of connections."""
    return _trains(lab, api)


def _trains(lab: EmbeddedLab, api: App, **settings: object) -> App:
    app = lab.app("mvc", trains=True, jdbc_pool_size=4, connection_timeout_ms=1500, **settings)
    app.put("/api", url=api.url)
    return app


def frames_of_workers(app: App) -> Counter[str]:
    """What the workers wait in, by the frame that tells."""
    frames = ("JdkClientHttpRequest", "Mono.block", "TaskQueue")
    workers = [thread for thread in app.threads() if "-exec-" in thread.name]
    return Counter(next((f for f in frames if any(f in frame for frame in w.top_frames)), "busy") for w in workers)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_dump_tells_who_keeps_a_worker_and_in_what(lab, api, trains, until, client):
    """The API holds a whole burst until the dump is there."""

    def as_expected():
        held = frames_of_workers(trains)
        working = held["JdkClientHttpRequest"] + held["Mono.block"] + held["busy"]
        return held[BLOCKING[client]] == IN_FLIGHT if client in BLOCKING else working <= 2

    assert until(lambda: api.get("/external")["waiting"] == 0, 20)
    plan = Plan((Stream("held", f"{trains.url}/arrivals?client={client}&api=down", burst(IN_FLIGHT), 60),), "burst")
    with ThreadPoolExecutor(1) as aside:
        running = aside.submit(lab.run_plan, plan)
        try:
            assert until(lambda: api.get("/external")["waiting"] == IN_FLIGHT, 20)
            assert until(as_expected, 20), frames_of_workers(trains)
        finally:
            api.put("/external", hurry="true")
        assert {sample.cls for sample in running.result().samples} == {"ok"}


@pytest.mark.parametrize("view", [False, True])
def test_who_holds_a_connection_during_the_call(lab, api, view):
    app = _trains(lab, api, open_in_view=view)
    assert app.settings()["open_in_view"] is view
    for boundary in ("transaction", "osiv", "split"):
        for client in CLIENTS:
            found = app.get("/user/arrivals", boundary=boundary, client=client, api="ok", id=7)
            kept = view or (boundary == "transaction" and client != "webclient-mono")
            assert found["connection_held_in_call"] is kept, (boundary, client)


def test_a_held_pool_turns_users_away_and_says_how_many(api, trains):
    """The API answers when eight have been turned away; the four it holds wait too, until a connection is open."""
    trains.get("/user", id=1)
    trains.delete("/watch")
    held = f"{trains.url}/user/arrivals?boundary=transaction&client=restclient&api=down"
    with ThreadPoolExecutor(12) as users:
        sent = [users.submit(httpx.get, held, timeout=60, trust_env=False) for _ in range(12)]
        early = [reply.result().status_code for reply, _ in zip(as_completed(sent, 60), range(8), strict=False)]
        api.put("/external", hurry="true")
    seen = trains.get("/watch")
    assert set(early) == {503} and Counter(reply.result().status_code for reply in sent) == {200: 4, 503: 8}
    assert (seen["pool_timeouts"], seen["pool_active_peak"]) == (8, 4)
    assert 4 < seen["pool_waiting_peak"] <= 12 and seen["waited_ms_max"] >= 1500
    assert max(seen["samples"]["pool_active"]) == 4 and seen["held_ms_max"] >= 1000


def test_a_ticket_outlives_the_error_of_a_returned_mono_only(trains):
    kept = {client: trains.post("/tickets", client=client)["kept"] for client in CLIENTS}
    assert kept == {"resttemplate": False, "restclient": False, "webclient-block": False, "webclient-mono": True}


def test_the_breaker_opens_on_an_api_that_is_down_and_shows_what_it_has(trains):
    trains.put("/breaker", timeout_ms=20_000, empty_cache="true")
    assert trains.get("/board", api="ok")["source"] == "fresh"
    trains.put("/breaker", timeout_ms=50, wait_open_ms=60_000, window=4)
    seen = [trains.get("/board", api="down") for _ in range(8)]
    assert [each["source"] for each in seen] == ["stale"] * 8
    told = trains.get("/breaker")
    assert [each["state"] for each in told["states"]] == ["closed", "open"]
    assert told["timeouts"] == told["refused_by_breaker"] == 4 == sum(told["answers"]["refused"])
    assert all(earlier["age_ms"] < later["age_ms"] for earlier, later in itertools.pairwise(seen))


@pytest.mark.parametrize("url", ["http://example.org", "https://127.0.0.1:1", "http://127.0.0.1:1/admin", ""])
def test_the_lab_names_no_api_but_its_own(api, trains, url):
    with pytest.raises(ServiceError, match="url must be"):
        trains.put("/api", url=url)
    assert trains.settings()["api_url"] == api.url


def test_a_database_that_was_killed_comes_back_with_the_users(lab, trains, until):
    trains.get("/user", id=7)
    os.kill(lab.link.child("db").pid, signal.SIGKILL)
    assert until(lambda: not lab.db.running(), 20)
    lab.app("mvc", **trains.asked)
    assert until(lambda: trains.answers("/user?id=7"), 30)


def test_the_trains_start_from_a_cache_of_their_own_and_are_gone_without(lab, trains):
    assert "-XX:AOTCache=trains.aot" in psutil.Process(trains.pid).cmdline()
    plain = lab.app("mvc", trains=False)
    assert "-XX:AOTCache=app.aot" in psutil.Process(plain.pid).cmdline()
    assert httpx.get(f"{plain.url}/arrivals?client=restclient", trust_env=False).status_code == 404
    with pytest.raises(ControlError, match="open_in_view"):
        lab.app("mvc", open_in_view=True)
