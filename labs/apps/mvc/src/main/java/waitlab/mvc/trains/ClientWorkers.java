package waitlab.mvc.trains;

import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.springframework.stereotype.Component;
import waitlab.shared.LabClock;

/**
 * The threads on which the JDK's HTTP client reads answers: as many as it asks for, each for a minute, under the names
 * that it gives them itself. It is made here only so that idle ones can be sent home between two runs.
 */
@Trains
@Component
class ClientWorkers implements Executor, AutoCloseable {

    private static final long IDLE_S = 60;
    private static final long SHED_US = 2_000_000;
    private static final long LOOK_AGAIN_NS = 1_000_000;

    private final AtomicInteger made = new AtomicInteger();
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, IDLE_S, TimeUnit.SECONDS, new SynchronousQueue<>(), this::worker);

    @Override
    public void execute(Runnable task) {
        threads.execute(task);
    }

    void shedIdle() {
        threads.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        try {
            long deadline = LabClock.nowUs() + SHED_US;
            while (threads.getPoolSize() > threads.getActiveCount() && LabClock.nowUs() < deadline) {
                LockSupport.parkNanos(LOOK_AGAIN_NS);
            }
        } finally {
            threads.setKeepAliveTime(IDLE_S, TimeUnit.SECONDS);
        }
    }

    int alive() {
        return threads.getPoolSize();
    }

    private Thread worker(Runnable task) {
        return Thread.ofPlatform().daemon().name("HttpClient-1-Worker-" + made.getAndIncrement()).unstarted(task);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
