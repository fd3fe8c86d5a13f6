package waitlab.jvm.perrequest;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import waitlab.shared.LabClock;

/**
 * The pool of platform threads: as Java's fixed pool, it makes a thread for each task until it has its full number, and
 * keeps the others waiting in a queue without end.
 */
final class Workers implements Executor {

    /** The largest size that is accepted. */
    static final int LARGEST = 5_000;

    private static final long SHED_US = 2_000_000;
    private static final long LOOK_AGAIN_NS = 1_000_000;

    private final ThreadPoolExecutor pool;
    private int made;
    private int alive;
    private int peak;

    Workers(int size) {
        // snippet: fixed-pool
        pool = new ThreadPoolExecutor(
                size, size, 1, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), this::worker);
        // end
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    int size() {
        return pool.getMaximumPoolSize();
    }

    int busy() {
        return pool.getActiveCount();
    }

    synchronized int alive() {
        return alive;
    }

    /** The most workers that were alive at once since the last reset. */
    synchronized int peak() {
        return peak;
    }

    synchronized void resetPeak() {
        peak = alive;
    }

    /** Changes the pool now; workers above the new size go home when their task is done. */
    synchronized void resize(int size) {
        if (size > size()) {
            pool.setMaximumPoolSize(size);
            pool.setCorePoolSize(size);
        } else {
            pool.setCorePoolSize(size);
            pool.setMaximumPoolSize(size);
        }
    }

    /** Sends idle workers home: the pool is as good as new. */
    void shedIdle() {
        pool.allowCoreThreadTimeOut(true);
        long deadline = LabClock.nowUs() + SHED_US;
        while (alive() > busy() && LabClock.nowUs() < deadline) {
            LockSupport.parkNanos(LOOK_AGAIN_NS);
        }
        pool.allowCoreThreadTimeOut(false);
    }

    private synchronized Thread worker(Runnable tasks) {
        made++;
        return Thread.ofPlatform().daemon().name("worker-" + made).unstarted(() -> {
            count(1);
            try {
                tasks.run();
            } finally {
                count(-1);
            }
        });
    }

    private synchronized void count(int change) {
        alive += change;
        peak = Math.max(peak, alive);
    }
}
