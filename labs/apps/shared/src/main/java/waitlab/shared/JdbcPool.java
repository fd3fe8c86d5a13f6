package waitlab.shared;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.metrics.micrometer.MicrometerMetricsTrackerFactory;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The pool of JDBC connections. It connects when it is first asked, then keeps all its connections open, so that a
 * measured request does not pay for a connection set-up.
 */
public final class JdbcPool implements AutoCloseable {

    /** The range that {@link #resize} and the start accept. */
    public static final int LARGEST = 1_000;

    private final HikariDataSource source = new HikariDataSource();
    private final Duration driverTimeout;

    public JdbcPool(LabProperties lab, MeterRegistry meters) {
        LabProperties.Db db = lab.db();
        driverTimeout = db.timeout();
        source.setPoolName("jdbc");
        source.setJdbcUrl("jdbc:postgresql://%s:%d/%s".formatted(db.host(), db.port(), db.name()));
        source.setUsername(db.user());
        source.setPassword(db.password());
        source.setConnectionTimeout(lab.jdbc().queueTimeout().toMillis());
        source.setInitializationFailTimeout(-1);
        source.addDataSourceProperty("connectTimeout", db.connectTimeout().toSeconds());
        source.addDataSourceProperty("socketTimeout", driverTimeout.toSeconds());
        source.addDataSourceProperty("sslmode", "disable");
        source.addDataSourceProperty("gssEncMode", "disable");
        source.setMetricsTrackerFactory(new MicrometerMetricsTrackerFactory(meters));
        setSize(lab.jdbc().poolSize());
    }

    public JdbcClient client() {
        return JdbcClient.create(source);
    }

    /** The older way to ask, as most code has it. */
    public JdbcTemplate template() {
        return new JdbcTemplate(source);
    }

    public int size() {
        return source.getMaximumPoolSize();
    }

    /** Connections open at this moment; 0 before the first use. */
    public int connections() {
        return source.getHikariPoolMXBean() == null ? 0 : source.getHikariPoolMXBean().getTotalConnections();
    }

    /** Connections that a caller holds at this moment. */
    public int busy() {
        return source.getHikariPoolMXBean() == null ? 0 : source.getHikariPoolMXBean().getActiveConnections();
    }

    /** Threads that wait for a connection at this moment. */
    public int waiting() {
        return source.getHikariPoolMXBean() == null ? 0 : source.getHikariPoolMXBean().getThreadsAwaitingConnection();
    }

    /** How long the driver waits for an answer before it gives the connection up. */
    public Duration driverTimeout() {
        return driverTimeout;
    }

    /**
     * Changes the number of connections now. Queries that run finish on the connection they have; idle connections
     * are replaced in the background, which is what makes the pool refill to its new size without waiting for a caller.
     */
    public void resize(int size) {
        if (size == size()) {
            return;
        }
        setSize(size);
        if (source.getHikariPoolMXBean() != null) {
            source.getHikariPoolMXBean().softEvictConnections();
        }
    }

    private void setSize(int size) {
        source.setMaximumPoolSize(size);
        source.setMinimumIdle(size);
    }

    @Override
    public void close() {
        source.close();
    }
}
