package waitlab.jvm.pressure;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * One who takes as long for every item as its rate says. Threads wake up late; what an item took too long is taken off
 * the next ones, so that the rate holds.
 */
final class Pace {

    private static final long MOST_OWED_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final double eachNs;
    private long owedNs;

    Pace(int perSecond) {
        eachNs = TimeUnit.SECONDS.toNanos(1) / (double) perSecond;
    }

    /** Takes the time of this many items, on the calling thread. */
    void take(int items) {
        long end = System.nanoTime() - owedNs + Math.round(items * eachNs);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            if (Thread.currentThread().isInterrupted()) {
                return;
            }
            LockSupport.parkNanos(left);
        }
        owedNs = Math.min(System.nanoTime() - end, MOST_OWED_NS);
    }
}
