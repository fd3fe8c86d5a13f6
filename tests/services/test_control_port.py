"""Control calls are answered while all workers are busy: they come by a port that has a thread for each."""

from __future__ import annotations

import threading

import httpx


def test_a_full_pool_does_not_keep_control_calls_waiting(lab, until):
    app = lab.app("mvc", pool_size=1)
    held = threading.Thread(target=httpx.get, args=(f"{app.url}/work?ms=3000",), kwargs={"timeout": 30}, daemon=True)
    held.start()
    until(lambda: app.settings()["workers_busy"] == 1, 10.0)
    assert app.settings()["pool_size"] == 1
    assert held.is_alive()
    assert app.control_url != app.url and app.url.endswith(f":{app.settings()['port']}")
    held.join()


def test_a_server_without_such_a_port_is_asked_where_it_serves(lab):
    app = lab.app("webflux")
    assert app.control_url == app.url
