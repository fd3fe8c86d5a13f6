"""What this machine allows and counts: open files, ports, addresses, accept queues, SYNs sent again."""

from __future__ import annotations

import bisect
import contextlib
import errno
import resource
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SPARE_DESCRIPTORS = 64  # for everything that is not a connection of the plan
AT_ONCE_S = 0.1  # requests due within this time may all be open together
_WOULD_BLOCK = (errno.EAGAIN, errno.EWOULDBLOCK)
_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_NETSTAT = Path("/proc/net/netstat")
_CONNECTIONS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


class RefusalError(Exception):
    """The plan cannot be carried out here: what, found, tip."""


def resolve(url: str) -> tuple[str, int]:
    """The numeric address and port of a URL, looked up once, before time 0."""
    try:
        parts = urlsplit(url)
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        tip = "an address like http://127.0.0.1:8080/fast"
        raise RefusalError(f"The address {url} leads to no host.", str(error), tip) from error
    found.sort(key=lambda entry: entry[0] != socket.AF_INET)
    return str(found[0][4][0]), int(found[0][4][1])


def accept_queue(port: int) -> int | None:
    """Connections to `port` that its server has yet to accept; None where this machine does not show it."""
    waiting = None
    for table in _CONNECTIONS:
        with contextlib.suppress(OSError):
            for row in table.read_text().splitlines()[1:]:
                _, local, _, state, queues, *_ = row.split(None, 5)
                if state == "0A" and local.endswith(f":{port:04X}"):
                    waiting = (waiting or 0) + int(queues.partition(":")[2], 16)
    return waiting


def syn_retransmits() -> int | None:
    """SYNs that this machine has sent again since it started; None where the kernel does not count them."""
    try:
        rows = _NETSTAT.read_text().splitlines()
        names, counts = (row.split() for row in rows if row.startswith("TcpExt:"))
        return int(counts[names.index("TCPSynRetrans")])
    except (OSError, ValueError):
        return None


def still_open(sock: socket.socket) -> bool:
    """Whether the server has left a silent connection open."""
    sock.setblocking(False)
    try:
        return bool(sock.recv(1))
    except OSError as error:
        return error.errno in _WOULD_BLOCK


def make_room(plan: dict[str, Any]) -> None:
    """Raises the limit of open files; refuses a plan that needs more files or ports than there are."""
    needed = _open_at_once(plan) + SPARE_DESCRIPTORS
    allowed = _raise_limit(needed)
    if needed > allowed:
        what = f"The plan needs {needed} open files at once, and a process may have {allowed} here."
        raise RefusalError(what, "", "fewer requests at once, or a higher limit (ulimit -Hn shows it)")
    ports = _local_ports()
    if ports is not None and needed > ports:
        what = f"The plan needs {needed} local ports at once, and this machine has {ports}."
        raise RefusalError(what, "", "fewer requests at once")


def _open_at_once(plan: dict[str, Any]) -> int:
    streams = plan["streams"]
    times = sorted(at for s in streams if s["connection"] == "new" for at in s["at_s"])
    burst = max((bisect.bisect_right(times, at + AT_ONCE_S) - i for i, at in enumerate(times)), default=0)
    first = sum(len(s["at_s"]) for s in streams if s["connect_first"])
    kept = sum(s["connections"] for s in streams)
    return int(burst + first + kept + plan["idle_connections"] + plan["users"])


def _raise_limit(needed: int) -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    top = needed if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < top:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (top, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return needed if soft == resource.RLIM_INFINITY else soft


def _local_ports() -> int | None:
    try:
        low, high = map(int, _PORTS.read_text().split())
    except (OSError, ValueError):
        return None
    return high - low + 1
