"""A running app, as an experiment sees it: the same object in every runtime.

App     url, settings() and change() over HTTP; threads(), logs(), check_alive() through the runtime
"""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from waitlab.controls import Value
from waitlab.errors import ServiceDied, ServiceError, ServiceTimeout
from waitlab.services import apps
from waitlab.services.apps import AppSpec
from waitlab.services.threads import ThreadInfo

CONTROL_S = 15.0
WORK_S = 75.0
"""Time-outs: of a call to /settings and the like, and of one to an endpoint that waits by order."""
CLOCK_ERROR_S = 0.001
TOKEN_HEADER = "X-Lab-Token"


class App(ABC):
    """A running server. `url` as the load engine reaches it; `restarts` counts starts after the first."""

    def __init__(self, spec: AppSpec, token: str) -> None:
        self.spec = spec
        self.name = spec.name
        self.url = ""
        self.pid = 0
        self.restarts = -1
        self.asked: dict[str, Value] = {}
        self.same_clock = False
        self._token = token

    def __repr__(self) -> str:
        return f"<{self.name} on {self.url}>" if self.url else f"<{self.name}, not started>"

    @property
    def control_url(self) -> str:
        """As this process reaches it, for control calls; the load engine may reach it otherwise."""
        return self.url

    @abstractmethod
    def threads(self) -> list[ThreadInfo]:
        """Every thread of the server now, virtual ones too."""

    @abstractmethod
    def logs(self, lines: int = 50) -> list[str]:
        """The last lines of the server's log."""

    @abstractmethod
    def died_s(self) -> float | None:
        """When the server ended by itself (monotonic seconds); None while it runs."""

    @abstractmethod
    def how_it_ended(self) -> str:
        """How the server's process ended, for a sentence."""

    def frozen(self) -> bool:
        """Whether the server's process is stopped by a signal, as far as this runtime can see."""
        return False

    def who_ended(self) -> str:
        """Who has ended where the server counts as dead, for a sentence."""
        return self.name

    def settings(self) -> dict[str, Any]:
        """Every limit in force, as the server reads it back."""
        return self._call("GET", "/settings")

    def change(self, **live: Value) -> dict[str, Any]:
        """Changes live settings and returns what is then in force; ServiceError where that differs."""
        found = self._call("PUT", "/settings", json=dict(live))
        kept, self.asked = self.asked, {}
        self.check_in_force(live, found)
        self.asked = {**kept, **live}
        return found

    def get(self, path: str, **params: object) -> dict[str, Any]:
        """One control call: GET with these query parameters."""
        return self._call("GET", path, params=params or None, timeout=WORK_S)

    def put(self, path: str, **params: object) -> dict[str, Any]:
        """One control call: PUT with these query parameters and the lab's token."""
        return self._call("PUT", path, params=params or None)

    def post(self, path: str, **params: object) -> dict[str, Any]:
        """One control call: POST with these query parameters and the lab's token."""
        return self._call("POST", path, params=params or None)

    def delete(self, path: str) -> dict[str, Any]:
        """One control call: DELETE, with the lab's token."""
        return self._call("DELETE", path)

    def database_died_s(self) -> float | None:
        """When the database behind the server ended unasked (monotonic seconds); None if it did not."""
        return None

    def check_alive(self) -> None:
        """ServiceDied with the last log lines if the server has ended."""
        if self.died_s() is not None:
            raise self._death()

    def check_in_force(self, asked: Mapping[str, Value], found: Mapping[str, Any]) -> None:
        """ServiceError where the server reads back something else than was asked."""
        wrong = apps.differences(self.spec, asked, found)
        if wrong:
            raise ServiceError(
                f"{self.name} runs, but not with the settings that were asked for.",
                found="; ".join(wrong),
                tip="ask for other values, or `waitlab build --force` if the server is older than this page.",
            )

    def read_back(self) -> dict[str, Any]:
        """Reads the settings of a fresh start: keeps the pid, compares the clock and the settings."""
        before = time.monotonic()
        found = self.settings()
        after = time.monotonic()
        self.pid = int(found["pid"])
        self.same_clock = on_one_clock(before, float(found["monotonic_us"]) / 1e6, after)
        self.check_in_force(self.asked, found)
        return found

    def answers(self, path: str) -> bool:
        """Whether the server answers a request with 200 now."""
        import httpx

        try:
            return bool(_client().get(self.control_url + path, timeout=2.0).status_code == 200)
        except httpx.TransportError:
            return False

    def _call(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """One control call; every way it can fail is a ServiceError."""
        import httpx

        try:
            reply = _client().request(method, self.control_url + path, headers={TOKEN_HEADER: self._token}, **options)
        except httpx.TimeoutException as late:
            raise self._late(f"{method} {path}", options.get("timeout", CONTROL_S)) from late
        except httpx.TransportError as broken:
            raise self._unreachable(f"{method} {path}", broken) from broken
        if reply.is_success:
            return dict(reply.json())
        if reply.status_code >= 500 and self.database_died_s() is not None:
            raise ServiceDied(
                f"The database behind {self.name} ended by itself.",
                found=f"{method} {path} was answered with HTTP {reply.status_code}",
                tip="run the cell again: it is started anew.",
            )
        raise ServiceError(
            f"{self.name} refused {method} {path}.",
            found=f"HTTP {reply.status_code}: {_sentence(reply)}",
            tip="change the value that it names.",
        )

    def _late(self, call: str, within_s: float) -> ServiceError:
        return ServiceTimeout(
            f"{self.name} did not answer {call} within {within_s:g} s.",
            found=f"process {self.pid} is frozen (SIGSTOP)" if self.frozen() else "the server runs, but it is busy",
            tip="wait until the run has ended, or stop and start the server.",
        )

    def _unreachable(self, call: str, problem: Exception) -> ServiceError:
        if self.died_s() is not None:
            return self._death()
        return ServiceError(
            f"{self.name} could not be reached for {call}.",
            found=f"{type(problem).__name__}: {problem}",
            tip="run the cell again: a server that has gone is started afresh.",
        )

    def _death(self) -> ServiceDied:
        lines = [f"    {line}" for line in self.logs(8)]
        return ServiceDied(
            f"{self.who_ended()} ended by itself.",
            found="\n".join([f"{self.how_it_ended()}; its last words:", *lines]),
            tip="run the cell again: the server is started afresh.",
        )


@functools.cache
def _client() -> Any:
    """The client of all control calls: a new connection for each, no proxy, no certificates to load."""
    import httpx

    alone = httpx.Limits(max_keepalive_connections=0)
    return httpx.Client(timeout=CONTROL_S, limits=alone, trust_env=False, verify=False)


def on_one_clock(before_s: float, server_s: float, after_s: float) -> bool:
    """Whether a server's time lies between two of ours."""
    return before_s - CLOCK_ERROR_S <= server_s <= after_s + CLOCK_ERROR_S


def _sentence(reply: Any) -> str:
    """What a refusal says for itself."""
    try:
        return str(reply.json()["error"])
    except (ValueError, KeyError, TypeError):
        return str(reply.text)[:200]


def app_files(spec: AppSpec) -> tuple[Path, Path]:
    """The app's jar and its AOT cache; the cache need not be there."""
    return spec.folder / "app.jar", spec.folder / "app.aot"
