"""What the apps are asked for in their training runs, so that Java knows it at later starts.

PATHS           by app, and by the setting that makes it run other code
DATABASE_PATHS  besides, where a database could be started
stand_in()      the API that such an app asks in turn
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_WORK = ("/work?ms=1", "/work?ms=1&cpu_ms=1&calls=2&parallel=true")
_CLIENTS = ("resttemplate", "restclient", "webclient-block", "webclient-mono")
_BOUNDARIES = ("transaction", "osiv", "split")

PATHS: dict[str, tuple[str, ...]] = {
    "webflux": (
        "/fast",
        "/settings",
        "/blockhound",
        "/queues",
        "/actuator/health",
        "/actuator/metrics",
        "/sleep?ms=1",
        "/external/arrivals?ms=1",
        "/external",
    ),
    "mvc": ("/fast", "/settings", "/threads/peak", "/queues", "/actuator/health", "/actuator/metrics", *_WORK),
    "plain": ("/fast", "/settings", "/threads/peak", *_WORK),
    "trains": (
        *(f"/arrivals?client={client}" for client in _CLIENTS),
        *("/arrivals?client=restclient&factory=detected", "/board", "/breaker", "/watch", "/cpu"),
    ),
}
"""What each app is asked for in its training run; with a setting that is on, what that is asked for too."""

DATABASE_PATHS: dict[str, tuple[str, ...]] = {
    "webflux": tuple(
        f"/{endpoint}?s=0.001" for endpoint in ("jdbc", "jdbc-isolated", "jdbc-publish", "callable-publish", "r2dbc")
    ),
    "mvc": ("/work?ms=1&downstream=postgres",),
    "plain": (),
    "trains": (
        "/user",
        *(f"/user/arrivals?boundary={b}&client={c}" for b in _BOUNDARIES for c in ("restclient", "webclient-mono")),
    ),
}
"""What it is asked for besides, where a database could be started."""

_ANSWER = b'{"station": "Bern", "arrivals": [{"train": "IC 1", "to": "Thun", "platform": 1, "in_minutes": 2}]}'


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

    def do_GET(self) -> None:
        """Answers the same trains whatever was asked."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(_ANSWER)))
        self.end_headers()
        self.wfile.write(_ANSWER)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def stand_in() -> Iterator[str]:
    """An API on the loopback that answers at once; its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, name="waitlab-api", daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
