"""Thread dumps of the WebClient lab: frames decide, not states."""

import pytest
from waitlab.experiments import frames
from waitlab.services.threads import ThreadInfo

PARK = ("java.base/jdk.internal.misc.Unsafe.park(Native Method)", "java.base/LockSupport.park(LockSupport.java:369)")
IDLE = (
    *PARK,
    "java.base/LinkedBlockingQueue.poll(x:1)",
    "org.apache.tomcat.util.threads.TaskQueue.poll(TaskQueue.java:99)",
    "x.ThreadPoolExecutor.getTask(x:1)",
)
TAKE = (*PARK, "app//org.apache.tomcat.util.threads.TaskQueue.take(TaskQueue.java:117)")
BLOCK = (
    *PARK,
    "java.base/java.util.concurrent.CountDownLatch.await(CountDownLatch.java:230)",
    "reactor.core.publisher.BlockingSingleSubscriber.blockingGet(BlockingSingleSubscriber.java:91)",
    "reactor.core.publisher.Mono.block(Mono.java:1771)",
)
SEND = (*PARK, "java.net.http/jdk.internal.net.http.HttpClientImpl.send(HttpClientImpl.java:935)")
FUTURE = (
    *PARK,
    "java.base/java.util.concurrent.CompletableFuture.get(CompletableFuture.java:1)",
    "org.springframework.http.client.JdkClientHttpRequest.executeInternal(JdkClientHttpRequest.java:121)",
)
HIKARI = (
    *PARK,
    "java.base/java.util.concurrent.SynchronousQueue.poll(SynchronousQueue.java:1)",
    "com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:1)",
)
QUERY = ("java.base/sun.nio.ch.Net.poll(Native Method)", "org.postgresql.core.PGStream.receiveChar(PGStream.java:1)")
LOOP = ("io.netty.channel.epoll.Native.epollWait(Native.java:1)",)
HANDLER = ("waitlab.mvc.Trains.arrivals(Trains.java:9)",)


def thread(name="http-nio-127.0.0.1-auto-1-exec-7", frames=IDLE, state="WAITING", *, virtual=False):
    return ThreadInfo(name, state, virtual, tuple(frames))


@pytest.mark.parametrize(
    ("name", "virtual", "family"),
    [
        ("http-nio-127.0.0.1-auto-1-exec-7", False, frames.EXEC),
        ("virtual-12", True, frames.VIRTUAL),
        ("pool-watch", True, frames.OTHER),
        ("virtual-12", False, frames.OTHER),
        ("reactor-http-epoll-2", False, frames.NETTY),
        ("reactor-http-kqueue-2", False, frames.NETTY),
        ("HttpClient-1-Worker-3", False, frames.JDK),
        ("HttpClient-1-SelectorManager", False, frames.JDK),
        ("http-nio-127.0.0.1-auto-1-Poller", False, frames.OTHER),
        ("main", False, frames.OTHER),
    ],
)
def test_a_thread_belongs_to_a_family(name, virtual, family):
    assert frames.group(thread(name, virtual=virtual)) == family


@pytest.mark.parametrize(
    ("stack", "state", "what", "frame"),
    [
        (IDLE, "TIMED_WAITING", frames.IDLE, "TaskQueue.poll"),
        (TAKE, "WAITING", frames.IDLE, "TaskQueue.take"),
        (BLOCK, "WAITING", frames.BLOCK, "Mono.block"),
        (SEND, "WAITING", frames.ANSWER, "HttpClientImpl.send"),
        (FUTURE, "WAITING", frames.ANSWER, "JdkClientHttpRequest.executeInternal"),
        (HIKARI, "TIMED_WAITING", frames.CONNECTION, "HikariPool.getConnection"),
        (QUERY, "RUNNABLE", frames.DATABASE, "PGStream.receiveChar"),
        (LOOP, "RUNNABLE", frames.KERNEL, "Native.epollWait"),
        (HANDLER, "RUNNABLE", frames.RUNNING, "Trains.arrivals"),
        (PARK, "WAITING", frames.ELSEWHERE, "Unsafe.park"),
        ((), "WAITING", frames.ELSEWHERE, ""),
    ],
)
def test_frames_tell_what_a_thread_does(stack, state, what, frame):
    one = thread(frames=stack, state=state)
    assert (frames.doing(one), frames.telling(one)) == (what, frame)


def test_idle_workers_do_not_count_as_busy():
    dump = [thread(), thread(frames=TAKE), thread(frames=BLOCK), thread(frames=HANDLER, state="RUNNABLE")]
    dump += [thread("reactor-http-epoll-1", LOOP), thread("virtual-1", SEND, virtual=True)]
    assert len(frames.busy(dump)) == 2 and len(frames.busy(dump, frames.VIRTUAL)) == 1
    assert len(frames.in_block(dump)) == 1


def test_whoever_borrows_a_connection_is_not_idle_though_it_polls_a_queue():
    assert frames.doing(thread(frames=HIKARI)) == frames.CONNECTION
    assert frames.busy([thread(frames=HIKARI)])


def test_a_loop_that_blocks_is_not_a_worker_in_block():
    assert frames.in_block([thread("reactor-http-epoll-1", BLOCK)]) == []


def test_the_table_counts_what_is_the_same_and_keeps_the_frames_of_one():
    dump = [thread("main", PARK), *(thread(f"x-exec-{n}", BLOCK) for n in range(3)), thread("x-exec-9", IDLE)]
    rows = frames.table(dump)
    assert [(row["group"], row["doing"], row["count"]) for row in rows] == [
        (frames.EXEC, frames.BLOCK, 3),
        (frames.EXEC, frames.IDLE, 1),
        (frames.OTHER, frames.ELSEWHERE, 1),
    ]
    assert rows[0]["frames"] == list(BLOCK) and rows[0]["top_frame"] == "Mono.block"
    assert sum(row["count"] for row in rows) == len(dump)
    assert frames.counted(rows, frames.EXEC) == 4 and frames.counted(rows, frames.EXEC, frames.IDLE) == 1


def test_frames_are_cut_for_people():
    assert frames.short("java.base/java.lang.Thread.sleep(Thread.java:1)") == "Thread.sleep"
    assert frames.short("app//a.b.C$1.run(C.java)") == "C$1.run"
