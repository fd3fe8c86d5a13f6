package waitlab.mvc.trains;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.springframework.stereotype.Component;
import waitlab.mvc.WorkerPool;
import waitlab.shared.JdbcPool;
import waitlab.shared.LabClock;
import waitlab.shared.PoolCounts;

/**
 * Looks at the pool of connections fifty times a second, on a virtual thread, for two minutes after it was asked to.
 * Peaks and time-outs do not depend on when it looks: the pool itself tells them.
 */
@Trains
@Component
class PoolWatch {

    private static final Duration INTERVAL = Duration.ofMillis(20);
    private static final int LOOKS = 6_000;

    private final JdbcPool pool;
    private final WorkerPool workers;
    private List<Look> looks = new ArrayList<>();
    private Thread watcher;

    private record Look(long atUs, int active, int waiting, int timeouts, int busy) {}

    PoolWatch(JdbcPool pool, WorkerPool workers) {
        this.pool = pool;
        this.workers = workers;
    }

    /** Forgets what was seen and watches anew. */
    synchronized void start() {
        stop();
        pool.counts().reset();
        List<Look> seen = new ArrayList<>();
        looks = seen;
        watcher = Thread.ofVirtual().name("pool-watch").start(() -> watch(seen));
    }

    private synchronized void stop() {
        if (watcher != null) {
            watcher.interrupt();
        }
    }

    private void watch(List<Look> seen) {
        while (add(seen)) {
            try {
                Thread.sleep(INTERVAL);
            } catch (InterruptedException stopped) {
                return;
            }
        }
    }

    private synchronized boolean add(List<Look> seen) {
        PoolCounts.Seen counted = pool.counts().seen();
        seen.add(new Look(LabClock.nowUs(), counted.active(), pool.waiting(), counted.timeouts(), workers.busy()));
        return seen == looks && seen.size() < LOOKS;
    }

    /** What was seen since the start, and what the pool counted. */
    synchronized Map<String, Object> answer() {
        PoolCounts.Seen counted = pool.counts().seen();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("pool_active_peak", counted.activePeak());
        answer.put("pool_waiting_peak", looks.stream().mapToInt(Look::waiting).max().orElse(0));
        answer.put("pool_timeouts", counted.timeouts());
        answer.put("connections_used", counted.returned());
        answer.put("held_ms_mean", counted.heldMsMean());
        answer.put("held_ms_max", counted.heldMsMax());
        answer.put("waited_ms_max", counted.waitedMsMax());
        answer.put("interval_ms", INTERVAL.toMillis());
        answer.put(
                "samples",
                Map.of(
                        "at_us", column(Look::atUs),
                        "pool_active", column(Look::active),
                        "pool_waiting", column(Look::waiting),
                        "pool_timeouts", column(Look::timeouts),
                        "workers_busy", column(Look::busy)));
        return answer;
    }

    private long[] column(ToLongFunction<Look> part) {
        return looks.stream().mapToLong(part).toArray();
    }
}
