package waitlab.shared;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Looks at all queues of a server fifty times a second, on a thread of its own. Between watches nothing runs, so that
 * other measurements on the same server pay nothing for it.
 */
public final class QueueWatch implements AutoCloseable {

    /** How often it looks, in milliseconds. */
    public static final long EVERY_MS = 20;

    private static final int USUAL_S = 60;
    private static final int LONGEST_S = 900;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Map<String, LongSupplier> gauges = new LinkedHashMap<>();
    private volatile List<long[]> looks = List.of();
    private Thread watcher;

    /**
     * What was seen since the start.
     *
     * @param atUs when it looked, on the lab's clock
     * @param series what each gauge showed then
     */
    public record Seen(long[] atUs, Map<String, long[]> series) {}

    /** A watch of the processors; {@link #with} adds the queues. */
    public QueueWatch() {
        Processors processors = new Processors();
        with("cpu_us", processors::ofThisJvm);
        with("machine_ticks", processors::ofTheMachine);
        with("machine_busy_ticks", processors::busyOfIt);
    }

    /** Adds what is looked at. */
    public QueueWatch with(String name, LongSupplier gauge) {
        gauges.put(name, gauge);
        return this;
    }

    /** Forgets what was seen and watches anew, for {@code seconds} at most (text, or null for the usual minute). */
    public synchronized Map<String, Object> start(String seconds) {
        int longest = Waits.whole("seconds", seconds, USUAL_S, 1, LONGEST_S);
        close();
        List<long[]> seen = Collections.synchronizedList(new ArrayList<>());
        looks = seen;
        THREADS.resetPeakThreadCount();
        watcher = Thread.ofPlatform().daemon().name("queue-watch").start(() -> watch(seen, longest));
        return answer();
    }

    private void watch(List<long[]> seen, int seconds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() < end && !Thread.currentThread().isInterrupted()) {
            seen.add(look());
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(EVERY_MS));
        }
    }

    private long[] look() {
        long[] seen = new long[gauges.size() + 1];
        int at = 0;
        seen[at++] = LabClock.nowUs();
        for (LongSupplier gauge : gauges.values()) {
            seen[at++] = gauge.getAsLong();
        }
        return seen;
    }

    /** Everything seen since the start. */
    public Seen seen() {
        long[][] rows = looks.toArray(long[][]::new);
        Map<String, long[]> series = new LinkedHashMap<>();
        int column = 1;
        for (String name : gauges.keySet()) {
            series.put(name, column(rows, column++));
        }
        return new Seen(column(rows, 0), series);
    }

    /** The same as a reply. */
    public Map<String, Object> answer() {
        Seen seen = seen();
        return Map.of(
                "every_ms", EVERY_MS,
                "at_us", seen.atUs(),
                "series", seen.series(),
                "platform_threads_peak", THREADS.getPeakThreadCount());
    }

    private static long[] column(long[][] rows, int column) {
        long[] values = new long[rows.length];
        for (int i = 0; i < rows.length; i++) {
            values[i] = rows[i][column];
        }
        return values;
    }

    /** Ends the watch; what was seen stays. */
    @Override
    public synchronized void close() {
        if (watcher != null) {
            watcher.interrupt();
            watcher = null;
        }
    }
}
