"""What this machine allows and counts: open files, ports, addresses, accept queues, SYNs sent again."""

from __future__ import annotations

import bisect
import contextlib
import errno
import resource
import socket
from typing import Any
from urllib.parse import urlsplit

SPARE_DESCRIPTORS = 64  # for everything that is not a connection of the plan


class Refusal(Exception):
    """The plan cannot be carried out here: what, found, tip."""


def resolve(url: str) -> tuple[str, int]:
    """The numeric address and port of a URL, looked up once, before time 0."""
    parts = urlsplit(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise Refusal(f"The address {url} leads to no host.", str(error), "an address like http://127.0.0.1:8080/fast")
    found.sort(key=lambda entry: entry[0] != socket.AF_INET)
    return str(found[0][4][0]), int(found[0][4][1])


def accept_queue(port: int) -> int | None:
    """Connections to `port` that its server has yet to accept; None where this machine does not show it."""
    waiting = None
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError), open(table) as rows:
            for row in rows:
                fields = row.split(None, 5)
                if fields[3] == "0A" and fields[1].endswith(f":{port:04X}"):
                    waiting = (waiting or 0) + int(fields[4].partition(":")[2], 16)
    return waiting


def syn_retransmits() -> int | None:
    """SYNs that this machine has sent again since it started; None where the kernel does not count them."""
    try:
        with open("/proc/net/netstat") as rows:
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
        return error.errno in (errno.EAGAIN, errno.EWOULDBLOCK)


def make_room(plan: dict[str, Any]) -> None:
    """Raises the limit of open files; Refusal where the plan needs more descriptors or ports than there are."""
    kept = sum(s["connections"] for s in plan["streams"]) + plan["idle_connections"] + plan["users"]
    times = sorted(at for s in plan["streams"] if s["connection"] == "new" for at in s["at_s"])
    first = sum(len(s["at_s"]) for s in plan["streams"] if s["connect_first"])
    at_once = max((bisect.bisect_right(times, at + 0.1) - i for i, at in enumerate(times)), default=0)
    needed = kept + max(at_once, first) + SPARE_DESCRIPTORS
    limit = raise_limit(needed)
    if needed > limit:
        raise Refusal(
            f"The plan needs {needed} open files at once, and this process may have {limit}.",
            "",
            "fewer requests at once, or a higher limit (ulimit -Hn)",
        )
    with contextlib.suppress(OSError), open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        low, high = map(int, file.read().split())
        if needed > high - low:
            raise Refusal(f"The plan needs {needed} ports at once, and this machine has {high - low}.", "", "fewer")


def raise_limit(needed: int) -> int:
    """The soft limit of open files after raising it as far as it goes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    top = needed if hard == resource.RLIM_INFINITY else hard
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, top), hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
