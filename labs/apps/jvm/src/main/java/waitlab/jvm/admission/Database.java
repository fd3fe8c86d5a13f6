package waitlab.jvm.admission;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import waitlab.shared.LabClock;
import waitlab.shared.Waits;

/** A real PostgreSQL behind a pool of connections: the pool is the valve, the query sleeps in the database. */
final class Database implements Downstream {

    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final Duration OPENING = Duration.ofMinutes(1);
    private static final long LOOK_AGAIN_NS = 5_000_000;
    private static final int PREPARED_AFTER = 6;

    private final HikariDataSource pool = new HikariDataSource();
    private final double seconds;

    /** Opens all connections, and has each answer a few queries, so that none is cold when the crowd comes. */
    Database(Properties where, int connections, Duration hold) {
        seconds = Waits.inSeconds(hold);
        pool.setJdbcUrl("jdbc:postgresql://%s:%s/%s".formatted(
                where.getProperty("lab.db.host"),
                where.getProperty("lab.db.port", "5432"),
                where.getProperty("lab.db.name", "lab")));
        pool.setUsername(where.getProperty("lab.db.user", "lab"));
        pool.setPassword(where.getProperty("lab.db.password", ""));
        pool.setConnectionTimeout(PATIENCE.toMillis());
        pool.setMaximumPoolSize(connections);
        pool.setMinimumIdle(connections);
        pool.addDataSourceProperty("sslmode", "disable");
        pool.addDataSourceProperty("gssEncMode", "disable");
        try {
            open(connections);
        } catch (SQLException | RuntimeException broken) {
            pool.close();
            throw new IllegalStateException("The database cannot be used: " + broken.getMessage(), broken);
        }
    }

    // snippet: database
    @Override
    public long call() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            long began = LabClock.nowUs();
            sleep(connection, seconds);
            return began;
        }
    }
    // end

    @Override
    public int capacity() {
        return pool.getHikariPoolMXBean().getTotalConnections();
    }

    @Override
    public void close() {
        pool.close();
    }

    private void open(int connections) throws SQLException {
        List<Connection> all = new ArrayList<>();
        try {
            all.add(pool.getConnection());
            long deadline = System.nanoTime() + OPENING.toNanos();
            while (capacity() < connections && System.nanoTime() < deadline) {
                LockSupport.parkNanos(LOOK_AGAIN_NS);
            }
            if (capacity() < connections) {
                throw new IllegalStateException("it gave " + capacity() + " of " + connections + " connections.");
            }
            while (all.size() < connections) {
                all.add(pool.getConnection());
            }
            for (Connection connection : all) {
                for (int i = 0; i < PREPARED_AFTER; i++) {
                    sleep(connection, 0);
                }
            }
        } finally {
            for (Connection connection : all) {
                connection.close();
            }
        }
    }

    private static void sleep(Connection connection, double seconds) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("SELECT pg_sleep(?)")) {
            query.setDouble(1, seconds);
            query.executeQuery().close();
        }
    }
}
