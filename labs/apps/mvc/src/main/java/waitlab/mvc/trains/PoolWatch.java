package waitlab.mvc.trains;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.springframework.stereotype.Component;
import waitlab.mvc.WorkerPool;
import waitlab.shared.JdbcPool;
import waitlab.shared.PoolCounts;
import waitlab.shared.QueueWatch;

/**
 * Looks at the pool of connections for two minutes after it was asked to. The peak of connections in use and the
 * time-outs do not depend on when it looks: the pool itself tells them. The peak of those who wait is of the looks, and
 * counts whoever waits only until a connection is opened.
 */
@Trains
@Component
class PoolWatch implements AutoCloseable {

    private static final String SECONDS = "120";
    private static final String WAITING = "pool_waiting";

    private final PoolCounts counts;
    private final QueueWatch watch;

    PoolWatch(JdbcPool pool, WorkerPool workers) {
        counts = pool.counts();
        watch = new QueueWatch()
                .with("pool_active", () -> counts.seen().active())
                .with(WAITING, pool::waiting)
                .with("pool_timeouts", () -> counts.seen().timeouts())
                .with("workers_busy", workers::busy);
    }

    /** Forgets what was seen and watches anew. */
    void start() {
        counts.reset();
        watch.start(SECONDS);
    }

    /** What was seen since the start, and what the pool counted. */
    Map<String, Object> answer() {
        QueueWatch.Seen seen = watch.seen();
        PoolCounts.Seen counted = counts.seen();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("pool_active_peak", counted.activePeak());
        answer.put("pool_waiting_peak", LongStream.of(seen.series().get(WAITING)).max().orElse(0));
        answer.put("pool_timeouts", counted.timeouts());
        answer.put("connections_used", counted.returned());
        answer.put("held_ms_mean", counted.heldMsMean());
        answer.put("held_ms_max", counted.heldMsMax());
        answer.put("waited_ms_max", counted.waitedMsMax());
        answer.put("interval_ms", QueueWatch.EVERY_MS);
        Map<String, long[]> samples = new LinkedHashMap<>(seen.series());
        samples.put("at_us", seen.atUs());
        answer.put("samples", samples);
        return answer;
    }

    @Override
    public void close() {
        watch.close();
    }
}
