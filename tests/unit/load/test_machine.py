"""What the engine reads from the kernel, from files as Linux writes them; nothing is guessed elsewhere."""

from __future__ import annotations

import socket

import pytest
from waitlab.load.engine import machine

NETSTAT = """TcpExt: SyncookiesSent TCPSynRetrans TCPOrigDataSent
TcpExt: 0 17 4211
IpExt: InNoRoutes InTruncatedPkts
IpExt: 0 0
"""


def test_retransmitted_syns_are_read_by_name(tmp_path, monkeypatch):
    file = tmp_path / "netstat"
    file.write_text(NETSTAT)
    monkeypatch.setattr(machine, "_NETSTAT", file)
    assert machine.syn_retransmits() == 17


@pytest.mark.parametrize("text", [None, "", "TcpExt: Other\nTcpExt: 1\n"])
def test_a_kernel_that_does_not_count_them_gives_none(tmp_path, monkeypatch, text):
    file = tmp_path / "netstat"
    if text is not None:
        file.write_text(text)
    monkeypatch.setattr(machine, "_NETSTAT", file)
    assert machine.syn_retransmits() is None


def test_the_accept_queue_holds_what_the_server_has_not_accepted():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if machine.accept_queue(port) is None:
            pytest.skip("this kernel does not show accept queues")
        assert machine.accept_queue(port) == 0
        with socket.create_connection(("127.0.0.1", port)):
            assert machine.accept_queue(port) == 1
            server.accept()[0].close()
            assert machine.accept_queue(port) == 0
    assert machine.accept_queue(port) is None


def test_a_connection_is_open_until_the_peer_closes_it():
    ours, theirs = socket.socketpair()
    with ours:
        assert machine.still_open(ours)
        theirs.close()
        assert not machine.still_open(ours)


def test_addresses_are_resolved_to_numbers():
    assert machine.resolve("http://localhost:8123/x") == ("127.0.0.1", 8123)
    assert machine.resolve("http://127.0.0.1/x") == ("127.0.0.1", 80)


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999/x", "http://no-such-host.invalid/"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(machine.RefusalError):
        machine.resolve(url)
