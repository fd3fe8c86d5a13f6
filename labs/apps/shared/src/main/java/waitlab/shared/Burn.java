package waitlab.shared;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;

/**
 * Processor time, burnt by a loop. How many rounds a millisecond takes is measured once, in processor time and not by
 * the clock, so that a busy machine does not make the work smaller. A virtual thread cannot ask for its own processor
 * time: hence the same counted rounds on both kinds of threads.
 */
public final class Burn {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int SAMPLES = 7;
    private static final long SAMPLE_NS = 5_000_000;
    private static final long CHUNK = 10_000;

    private static volatile long sink;

    /** Measured when the first request burns anything. */
    private static final class Rounds {
        static final double PER_NS = measured();
    }

    private Burn() {}

    /** Keeps the calling thread computing for this much processor time. */
    public static void processor(Duration time) {
        if (time.isPositive()) {
            spin(Math.round(time.toNanos() * Rounds.PER_NS));
        }
    }

    private static void spin(long rounds) {
        long mixed = rounds;
        for (long i = 0; i < rounds; i++) {
            mixed ^= mixed << 13;
            mixed ^= mixed >>> 7;
            mixed ^= mixed << 17;
        }
        sink = mixed;
    }

    /** The best of a few samples, the first of which warm the loop up; on a thread that can read its own time. */
    private static double measured() {
        double[] best = new double[1];
        Thread gauge = Thread.ofPlatform().name("burn-gauge").start(() -> {
            for (int i = 0; i < SAMPLES; i++) {
                best[0] = Math.max(best[0], sample());
            }
        });
        try {
            gauge.join();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return best[0];
    }

    private static double sample() {
        long began = THREADS.getCurrentThreadCpuTime();
        long spent = 0;
        long rounds = 0;
        while (spent < SAMPLE_NS) {
            spin(CHUNK);
            rounds += CHUNK;
            spent = THREADS.getCurrentThreadCpuTime() - began;
        }
        return (double) rounds / spent;
    }
}
