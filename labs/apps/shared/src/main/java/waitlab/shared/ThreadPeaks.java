package waitlab.shared;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.function.IntSupplier;

/**
 * How many platform threads this JVM had at most since the last reset, by the JVM's own count (virtual threads are not
 * in it). The baseline is what was there at the reset, without the workers that still lived.
 */
public final class ThreadPeaks {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private volatile int baseline = THREADS.getThreadCount();

    /** Platform threads that live at this moment. */
    public static int now() {
        return THREADS.getThreadCount();
    }

    /** Starts counting anew, beside {@code workers} of the pool that are alive. */
    public void reset(IntSupplier workers) {
        THREADS.resetPeakThreadCount();
        baseline = THREADS.getThreadCount() - workers.getAsInt();
    }

    /** The answer to {@code GET /threads/peak}. */
    public Map<String, Object> answer(int workersPeak) {
        return Map.of(
                "workers_peak", workersPeak,
                "platform_threads_peak", THREADS.getPeakThreadCount(),
                "platform_threads_baseline", baseline);
    }
}
