package waitlab.jvm.admission;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import waitlab.jvm.Json;

/**
 * Looks at the run from beside it, on a thread of its own: how many requests are in flight and how much heap is used, in
 * a steady beat; and once, a second into the run, how much is used right after a collection, which is what is alive. A run
 * that is to last less than two seconds is collected halfway through it. What it has seen it prints five times a second.
 */
final class Sampler {

    private static final long MILLI = 1_000_000;
    private static final long TELL_NS = 200 * MILLI;
    private static final int POINTS = 160;
    private static final long QUICKEST_MS = 5;
    private static final long SLOWEST_MS = 500;
    private static final long COLLECT_MS = 1_000;
    private static final double MEBIBYTE = 1024.0 * 1024.0;

    private final Live live;
    private final Ledger ledger;
    private final long beatNs;
    private final long collectNs;
    private final Thread thread = Thread.ofPlatform().daemon().name("sampler").unstarted(this::watch);
    private final StringBuilder seen = new StringBuilder();
    private volatile boolean over;
    private double aliveMb = -1;
    private long collectedMs;
    private long beganNs;

    Sampler(Live live, Ledger ledger, long roughlyMs) {
        this.live = live;
        this.ledger = ledger;
        beatNs = MILLI * Math.clamp(roughlyMs / POINTS, QUICKEST_MS, SLOWEST_MS);
        collectNs = MILLI * Math.min(COLLECT_MS, roughlyMs / 2);
    }

    /** Starts the clock of the run, too; that it starts is told before, so that a run that dies at once has begun. */
    void start() {
        begin();
        look();
        tell();
        begin();
        thread.start();
    }

    private void begin() {
        beganNs = System.nanoTime();
        ledger.start();
    }

    /** Looks a last time, and tells what was not told yet. */
    void stop() throws InterruptedException {
        over = true;
        LockSupport.unpark(thread);
        thread.join();
    }

    /** What was alive at the collection, and when that was. */
    Map<String, Object> alive() {
        return Map.of("heap_peak_mb", aliveMb, "collected_at_ms", collectedMs);
    }

    private void watch() {
        long toldNs = beganNs;
        for (long beat = 1; !over; beat++) {
            look();
            if (aliveMb < 0 && sinceNs() >= collectNs) {
                collect();
            }
            if (System.nanoTime() - toldNs >= TELL_NS) {
                toldNs = System.nanoTime();
                tell();
            }
            LockSupport.parkNanos(Math.max(0, beganNs + beat * beatNs - System.nanoTime()));
        }
        look();
        if (aliveMb < 0) {
            collect();
        }
        tell();
    }

    private void collect() {
        System.gc();
        aliveMb = leftMb();
        collectedMs = sinceNs() / MILLI;
        look();
    }

    private void look() {
        seen.append(seen.isEmpty() ? "" : ",").append(sinceNs() / MILLI).append(',').append(live.now()).append(',')
                .append(Math.round(usedMb() * 10) / 10.0);
    }

    private void tell() {
        Json.printText("{\"start_us\":" + ledger.startUs() + ",\"seen\":[" + seen + "],\"done\":" + ledger.news() + "}");
        seen.setLength(0);
    }

    private long sinceNs() {
        return System.nanoTime() - beganNs;
    }

    /** What the last collection left, as the collector counted it: threads that go on at once do not blur it. */
    private static double leftMb() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                        .filter(pool -> pool.getType() == MemoryType.HEAP && pool.getCollectionUsage() != null)
                        .mapToLong(pool -> pool.getCollectionUsage().getUsed())
                        .sum()
                / MEBIBYTE;
    }

    private static double usedMb() {
        Runtime jvm = Runtime.getRuntime();
        return (jvm.totalMemory() - jvm.freeMemory()) / MEBIBYTE;
    }
}
