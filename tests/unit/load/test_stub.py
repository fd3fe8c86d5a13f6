"""The stub and the calibration that uses it."""

from __future__ import annotations

import json
import socket
import time
from urllib.parse import urlsplit

import pytest
from waitlab.load import calibration
from waitlab.load.stub import running_stub


def ask(address: str, path: str, version: str = "1.0") -> tuple[float, dict[str, object]]:
    """How long an answer took (s), and its JSON."""
    where = urlsplit(address)
    began = time.monotonic()
    with socket.create_connection((where.hostname or "", where.port or 0), 5) as connection:
        connection.sendall(f"GET {path} HTTP/{version}\r\nConnection: close\r\n\r\n".encode())
        reply = b""
        while part := connection.recv(4096):
            reply += part
    return time.monotonic() - began, json.loads(reply.partition(b"\r\n\r\n")[2])


def test_the_stub_answers_after_its_delay_with_the_contracts_fields(stub):
    took, reply = ask(stub, "/anything")
    assert took >= 0.05
    assert reply["thread"] == "stub-1"
    assert reply["ended_us"] - reply["started_us"] >= 50_000


def test_the_stub_sleeps_as_told_and_answers_fast_beside_whoever_waits(stub):
    assert ask(stub, "/sleep?ms=120")[0] >= 0.12
    with running_stub(60_000) as slow:
        where = urlsplit(slow)
        with socket.create_connection((where.hostname or "", where.port or 0), 5) as waiting:
            waiting.sendall(b"GET /anything HTTP/1.1\r\n\r\n")
            assert ask(slow, "/fast", "1.1")[1]["thread"] == "stub-1"


def test_the_stub_ends_with_its_block():
    with running_stub() as address:
        ask(address, "/fast")
    with pytest.raises(ConnectionRefusedError):
        ask(address, "/fast")


def test_calibration_measures_and_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "BURSTS", (5, 20))
    monkeypatch.setattr(calibration, "DURATION_S", 0.4)
    assert calibration.stored(tmp_path) is None
    said: list[str] = []
    result = calibration.calibrate(said.append, folder=tmp_path)
    assert [entry["at_once"] for entry in result["bursts"]] == [5, 20]
    for entry in result["bursts"]:
        assert entry["floor_p50_ms"] < entry["p50_ms"]
        assert entry["p50_ms"] >= 100
        assert entry["errors"] == 0
    assert result["steady"]["p50_ms"] >= 100
    assert len(said) == 3
    assert calibration.stored(tmp_path) == result
