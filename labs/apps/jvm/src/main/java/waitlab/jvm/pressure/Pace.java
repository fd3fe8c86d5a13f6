package waitlab.jvm.pressure;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** One who takes as long for every item as its rate says. A late awakening is made up for, a long wait is not. */
final class Pace {

    private static final long MADE_UP_FOR_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final double eachNs;
    private long free = System.nanoTime();

    Pace(int perSecond) {
        eachNs = TimeUnit.SECONDS.toNanos(1) / (double) perSecond;
    }

    /** Takes the time of this many items, on the calling thread. */
    void take(int items) {
        free = Math.max(free, System.nanoTime() - MADE_UP_FOR_NS) + Math.round(items * eachNs);
        for (long left = free - System.nanoTime(); left > 0; left = free - System.nanoTime()) {
            if (Thread.currentThread().isInterrupted()) {
                return;
            }
            LockSupport.parkNanos(left);
        }
    }
}
