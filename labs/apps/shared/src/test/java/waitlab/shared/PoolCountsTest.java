package waitlab.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.metrics.IMetricsTracker;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;

class PoolCountsTest {

    private final PoolCounts counts = new PoolCounts();
    private final IMetricsTracker tracker = counts.beside(new IMetricsTracker() {});

    private void take() throws SQLException {
        counts.taken(() -> null);
    }

    @Test
    void countsWhatIsInUseAndThePeak() throws SQLException {
        take();
        take();
        tracker.recordConnectionUsageMillis(30);
        take();
        tracker.recordConnectionUsageMillis(10);
        PoolCounts.Seen seen = counts.seen();
        assertThat(seen.active()).isEqualTo(1);
        assertThat(seen.activePeak()).isEqualTo(2);
        assertThat(seen.returned()).isEqualTo(2);
        assertThat(seen.heldMsMean()).isEqualTo(20);
        assertThat(seen.heldMsMax()).isEqualTo(30);
    }

    @Test
    void aCallerWhoIsTurnedAwayHoldsNothing() {
        assertThatThrownBy(() -> counts.taken(() -> {
                    throw new SQLTransientConnectionException("late");
                }))
                .isInstanceOf(SQLTransientConnectionException.class);
        tracker.recordConnectionTimeout();
        assertThat(counts.seen().timeouts()).isEqualTo(1);
        assertThat(counts.seen().activePeak()).isZero();
    }

    @Test
    void startsAnewWithWhatIsInUse() throws SQLException {
        take();
        take();
        counts.reset();
        tracker.recordConnectionUsageMillis(7);
        PoolCounts.Seen seen = counts.seen();
        assertThat(seen.active()).isEqualTo(1);
        assertThat(seen.activePeak()).isEqualTo(2);
        assertThat(seen.returned()).isEqualTo(1);
        assertThat(seen.timeouts()).isZero();
    }
}
