package waitlab.shared;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.metrics.MetricsTrackerFactory;
import com.zaxxer.hikari.metrics.micrometer.MicrometerMetricsTrackerFactory;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.function.ToIntFunction;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * The pool of JDBC connections. It connects when it is first asked, then keeps all its connections open, so that a
 * measured request does not pay for a connection set-up.
 */
public final class JdbcPool implements AutoCloseable {

    /** The range that {@link #resize} and the start accept. */
    public static final int LARGEST = 1_000;

    /** The least that HikariCP lets a caller wait for a connection, in milliseconds. */
    public static final int SHORTEST_WAIT_MS = 250;

    private final LabProperties.Db db;
    private final MetricsTrackerFactory meters;
    private final PoolCounts counts = new PoolCounts();
    private final Door door = new Door();
    private volatile HikariDataSource source;

    /** The same data source before and after the pool behind it was made anew. */
    private final class Door extends AbstractDataSource {

        @Override
        public Connection getConnection() throws SQLException {
            return counts.taken(source::getConnection);
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            throw new SQLFeatureNotSupportedException("The pool has one user.");
        }
    }

    public JdbcPool(LabProperties lab, MeterRegistry registry) {
        db = lab.db();
        MetricsTrackerFactory micrometer = new MicrometerMetricsTrackerFactory(registry);
        meters = (name, stats) -> counts.beside(micrometer.create(name, stats));
        source = pool(lab.jdbc().poolSize(), lab.jdbc().queueTimeout());
    }

    private HikariDataSource pool(int size, Duration queueTimeout) {
        HikariDataSource made = JdbcSource.of(db);
        made.setConnectionTimeout(queueTimeout.toMillis());
        made.setMetricsTrackerFactory(meters);
        sized(made, size);
        return made;
    }

    public JdbcClient client() {
        return JdbcClient.create(door);
    }

    /** The older way to ask, as most code has it. */
    public JdbcTemplate template() {
        return new JdbcTemplate(door);
    }

    /** For those who take their connections themselves. */
    public DataSource dataSource() {
        return door;
    }

    public int size() {
        return source.getMaximumPoolSize();
    }

    /** Connections open at this moment; 0 before the first use. */
    public int connections() {
        return now(HikariPoolMXBean::getTotalConnections);
    }

    /** Connections that a caller holds at this moment. */
    public int busy() {
        return now(HikariPoolMXBean::getActiveConnections);
    }

    /** Callers that wait for a connection at this moment. */
    public int waiting() {
        return now(HikariPoolMXBean::getThreadsAwaitingConnection);
    }

    /** What has happened here since somebody last asked to count. */
    public PoolCounts counts() {
        return counts;
    }

    /** How long the driver waits for an answer before it gives the connection up. */
    public Duration driverTimeout() {
        return db.timeout();
    }

    /** How long a caller waits for a connection before it is turned away. */
    public Duration queueTimeout() {
        return Duration.ofMillis(source.getConnectionTimeout());
    }

    /**
     * Changes how long a caller waits. HikariCP would look at a new value only now and then, so the pool is made anew;
     * connections that are in use then are lost.
     */
    public void queueTimeout(Duration longest) {
        if (!longest.equals(queueTimeout())) {
            HikariDataSource before = source;
            source = pool(size(), longest);
            before.close();
        }
    }

    /**
     * Changes the number of connections now. Queries that run finish on the connection they have; idle connections
     * are replaced in the background, which is what makes the pool refill to its new size without waiting for a caller.
     */
    public void resize(int size) {
        if (size == size()) {
            return;
        }
        sized(source, size);
        if (source.getHikariPoolMXBean() != null) {
            source.getHikariPoolMXBean().softEvictConnections();
        }
    }

    private static void sized(HikariDataSource pool, int size) {
        pool.setMaximumPoolSize(size);
        pool.setMinimumIdle(size);
    }

    private int now(ToIntFunction<HikariPoolMXBean> gauge) {
        HikariPoolMXBean pool = source.getHikariPoolMXBean();
        return pool == null ? 0 : gauge.applyAsInt(pool);
    }

    @Override
    public void close() {
        source.close();
    }
}
