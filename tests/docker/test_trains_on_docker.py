"""The trains in containers: the app asks the API inside the network, and starts from its own cache there too."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from waitlab.load.plans import Plan, Stream, burst
from waitlab.services import docker_containers
from waitlab.services.app import App
from waitlab.services.docker_lab import DockerLab

IN_FLIGHT = 60


@pytest.fixture
def trains(lab: DockerLab) -> App:
    """The app with its trains, and the API that it asks."""
    api = lab.app("webflux")
    app = lab.app("mvc", trains=True, jdbc_pool_size=4, connection_timeout_ms=1500)
    app.put("/api", url=api.url)
    return app


def test_the_api_is_asked_inside_the_network(trains):
    assert trains.settings()["api_url"] == "http://app:8080"
    for client in ("resttemplate", "restclient", "webclient-block", "webclient-mono"):
        assert trains.get("/arrivals", client=client, api="ok")["station"] == "Bern"


def test_a_burst_waits_in_the_client_that_was_asked_for(lab, trains, until):
    """The API holds it until the dump is there."""
    url = f"{trains.url}/arrivals?client=restclient&api=down"
    api = lab.app("webflux")
    api.put("/external", hurry="false")
    with ThreadPoolExecutor(1) as aside:
        running = aside.submit(lab.run_plan, Plan((Stream("held", url, burst(IN_FLIGHT), 60),), "burst"))
        try:
            assert until(lambda: api.get("/external")["waiting"] == IN_FLIGHT, 30)
            frames = [" ".join(thread.top_frames) for thread in trains.threads() if "-exec-" in thread.name]
        finally:
            api.put("/external", hurry="true")
        assert Counter(sample.cls for sample in running.result().samples) == {"ok": IN_FLIGHT}
    api.put("/external", hurry="false")
    assert sum("JdkClientHttpRequest" in each for each in frames) == IN_FLIGHT
    assert not any("Mono.block" in each for each in frames)


def test_the_pool_is_held_by_a_transaction_and_not_by_a_mono(trains):
    held = {
        client: trains.get("/user/arrivals", boundary="transaction", client=client, api="ok")["connection_held_in_call"]
        for client in ("restclient", "webclient-mono")
    }
    assert held == {"restclient": True, "webclient-mono": False}


def test_it_starts_from_the_cache_of_its_profile(lab, trains):
    read = ["sh", "-c", f"tr '\\0' ' ' </proc/{trains._jvm}/cmdline"]
    assert "-XX:AOTCache=trains.aot" in docker_containers.run_in(lab.engine.host, trains._container, read, "mvc")
