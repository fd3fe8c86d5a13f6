package waitlab.shared;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/**
 * How many platform threads this JVM had at most since the last reset, by the JVM's own count (virtual threads are not
 * in it). The baseline is what was there at the reset, without the workers that still lived.
 */
public final class ThreadPeaks {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long GONE_US = 1_000_000;
    private static final long LOOK_AGAIN_NS = 1_000_000;

    private final Predicate<String> worker;
    private volatile int baseline = THREADS.getThreadCount();

    /** {@code worker} knows a thread of the pool by its name. */
    public ThreadPeaks(Predicate<String> worker) {
        this.worker = worker;
    }

    /** Platform threads that live at this moment. */
    public static int now() {
        return THREADS.getThreadCount();
    }

    /** Starts counting anew, beside {@code alive} workers; those that were sent home are waited for. */
    public void reset(IntSupplier alive) {
        long deadline = LabClock.nowUs() + GONE_US;
        while (workers() > alive.getAsInt() && LabClock.nowUs() < deadline) {
            LockSupport.parkNanos(LOOK_AGAIN_NS);
        }
        THREADS.resetPeakThreadCount();
        baseline = THREADS.getThreadCount() - workers();
    }

    /** The answer to {@code GET /threads/peak}. */
    public Map<String, Object> answer(int workersPeak) {
        return Map.of(
                "workers_peak", workersPeak,
                "platform_threads_peak", THREADS.getPeakThreadCount(),
                "platform_threads_baseline", baseline);
    }

    /** The pool's threads that the JVM still has: a thread leaves its pool a little before it is gone. */
    private int workers() {
        return (int) Arrays.stream(THREADS.getThreadInfo(THREADS.getAllThreadIds()))
                .filter(Objects::nonNull)
                .map(ThreadInfo::getThreadName)
                .filter(worker)
                .count();
    }
}
