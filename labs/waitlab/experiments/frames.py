"""What a thread dump says about waiting: which group a thread belongs to, and what it does, judged by its frames.

A state alone tells little: an idle worker and one that waits for an answer are both WAITING. The frames tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from waitlab.services.threads import ThreadInfo

EXEC, VIRTUAL, NETTY, JDK, OTHER = "http-nio-exec", "virtual", "reactor-http", "HttpClient", "other"
IDLE, BLOCK, ANSWER, CONNECTION, DATABASE, KERNEL = (
    "idle", "in Mono.block", "in the JDK client", "for a connection", "for the database", "for the kernel",
)  # fmt: skip
RUNNING, ELSEWHERE = "running", "waiting elsewhere"
SHOWN = 12

_QUEUES = (
    "TaskQueue.poll", "TaskQueue.take", "LinkedBlockingQueue.poll", "LinkedBlockingQueue.take",
    "SynchronousQueue.poll", "SynchronousQueue.take", "ThreadPoolExecutor.getTask",
)  # fmt: skip
_TELLING: tuple[tuple[str, tuple[str, ...]], ...] = (
    (BLOCK, ("reactor.core.publisher.Mono.block", "BlockingSingleSubscriber.", "BlockingMonoSubscriber.")),
    (ANSWER, ("client.JdkClientHttpRequest.executeInternal", "jdk.internal.net.http.HttpClientImpl.send")),
    (CONNECTION, ("com.zaxxer.hikari.pool.HikariPool.getConnection", "com.zaxxer.hikari.util.ConcurrentBag.borrow")),
    (DATABASE, ("org.postgresql.",)),
    (IDLE, _QUEUES),
    (KERNEL, ("EPoll.wait", "Native.epollWait", "KQueue.poll", "Native.keventWait", "SelectorImpl.select", "io_uring")),
)
"""For what a thread waits, by the frames that tell; the first that fits counts."""


def group(thread: ThreadInfo) -> str:
    """The family of a thread: who serves, who talks to the other side, or neither."""
    if not thread.virtual and "-exec-" in thread.name:
        return EXEC
    known = (VIRTUAL,) if thread.virtual else (NETTY, JDK)
    return next((family for family in known if thread.name.startswith(family)), OTHER)


def doing(thread: ThreadInfo) -> str:
    """What a thread does: the first of the telling frames decides, else its state."""
    found = next((what for what, frames in _TELLING if _telling(thread.top_frames, frames)), None)
    return found or (RUNNING if thread.state == "RUNNABLE" else ELSEWHERE)


def telling(thread: ThreadInfo) -> str:
    """The frame that tells what a thread does; its top frame where none does."""
    found = (_telling(thread.top_frames, frames) for _, frames in _TELLING)
    return short(next(filter(None, found), next(iter(thread.top_frames), "")))


def short(frame: str) -> str:
    """A frame as people say it: class and method, without module, package, file and line."""
    named = frame.partition("(")[0].rpartition("/")[2]
    return ".".join(named.split(".")[-2:])


def busy(threads: Iterable[ThreadInfo], family: str = EXEC) -> list[ThreadInfo]:
    """The threads of a family that have a request: those that are not idle."""
    return [thread for thread in threads if group(thread) == family and doing(thread) != IDLE]


def in_block(threads: Iterable[ThreadInfo]) -> list[ThreadInfo]:
    """Tomcat's workers that wait in Mono.block."""
    return [thread for thread in busy(threads) if doing(thread) == BLOCK]


def table(threads: Sequence[ThreadInfo]) -> list[dict[str, Any]]:
    """Rows {group, state, doing, top_frame, count, frames}: threads that do the same, the many first in each group.

    `frames` are those of one of them.
    """
    keys = [(group(thread), thread.state, doing(thread), telling(thread)) for thread in threads]
    counts, first = Counter(keys), dict(zip(reversed(keys), reversed(threads), strict=True))
    order = (EXEC, VIRTUAL, NETTY, JDK, OTHER)
    ranked = sorted(counts, key=lambda key: (order.index(key[0]), -counts[key], key))
    names = ("group", "state", "doing", "top_frame")
    return [
        dict(zip(names, key, strict=True)) | {"count": counts[key], "frames": list(first[key].top_frames[:SHOWN])}
        for key in ranked
    ]


def counted(rows: Iterable[Mapping[str, Any]], family: str, what: str | None = None) -> int:
    """How many threads of a family `table` has; with `what`, those that do that."""
    return sum(row["count"] for row in rows if row["group"] == family and what in (None, row["doing"]))


def _telling(frames: Sequence[str], wanted: Sequence[str]) -> str | None:
    """The first of the wanted frames that is there, in the order of the wanted."""
    return next((frame for name in wanted for frame in frames if name in frame), None)
