package waitlab.shared;

import com.zaxxer.hikari.metrics.IMetricsTracker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.TimeUnit;

/**
 * What has happened at a pool of connections since the last reset: every connection that was handed out, how long it
 * was kept, and every caller that was turned away. Each is counted as it happens, so no peak is missed.
 */
public final class PoolCounts {

    private int active;
    private int activePeak;
    private int timeouts;
    private int returned;
    private long heldMs;
    private long heldMsMax;
    private long waitedNsMax;

    /** The counts at one moment: held times are of the connections that were given back. */
    public record Seen(
            int active,
            int activePeak,
            int timeouts,
            int returned,
            double heldMsMean,
            long heldMsMax,
            long waitedMsMax) {}

    /** Starts anew, with the connections that are in use now. */
    public synchronized void reset() {
        activePeak = active;
        timeouts = 0;
        returned = 0;
        heldMs = 0;
        heldMsMax = 0;
        waitedNsMax = 0;
    }

    public synchronized Seen seen() {
        double mean = returned == 0 ? 0 : (double) heldMs / returned;
        return new Seen(
                active, activePeak, timeouts, returned, mean, heldMsMax, TimeUnit.NANOSECONDS.toMillis(waitedNsMax));
    }

    /** Takes a connection: from whoever hands it out. */
    interface Taking {
        Connection connection() throws SQLException;
    }

    Connection taken(Taking taking) throws SQLException {
        long began = System.nanoTime();
        try {
            Connection connection = taking.connection();
            taken(System.nanoTime() - began);
            return connection;
        } catch (SQLTransientConnectionException late) {
            turnedAway(System.nanoTime() - began);
            throw late;
        }
    }

    private synchronized void taken(long waitedNs) {
        active++;
        activePeak = Math.max(activePeak, active);
        waitedNsMax = Math.max(waitedNsMax, waitedNs);
    }

    private synchronized void given(long ms) {
        active--;
        returned++;
        heldMs += ms;
        heldMsMax = Math.max(heldMsMax, ms);
    }

    private synchronized void turnedAway(long waitedNs) {
        timeouts++;
        waitedNsMax = Math.max(waitedNsMax, waitedNs);
    }

    /** Counts connections that are given back, beside another who is told everything. */
    IMetricsTracker beside(IMetricsTracker other) {
        return new IMetricsTracker() {

            @Override
            public void recordConnectionCreatedMillis(long ms) {
                other.recordConnectionCreatedMillis(ms);
            }

            @Override
            public void recordConnectionAcquiredNanos(long ns) {
                other.recordConnectionAcquiredNanos(ns);
            }

            @Override
            public void recordConnectionUsageMillis(long ms) {
                given(ms);
                other.recordConnectionUsageMillis(ms);
            }

            @Override
            public void recordConnectionTimeout() {
                other.recordConnectionTimeout();
            }

            @Override
            public void close() {
                other.close();
            }
        };
    }
}
