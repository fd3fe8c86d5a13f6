package waitlab.webflux;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.pool.PoolMetrics;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.time.Duration;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import waitlab.shared.LabProperties;

/** The pool of R2DBC connections, replaced as a whole when another size is asked for; it connects when first used. */
class R2dbcPool implements ConnectionFactory, AutoCloseable {

    /** The largest size that is accepted. */
    static final int LARGEST = 500;

    private static final Duration LOOK_AGAIN = Duration.ofMillis(100);

    private final LabProperties lab;
    private volatile ConnectionPool pool;
    private volatile int size;

    R2dbcPool(LabProperties lab) {
        this.lab = lab;
        size = lab.r2dbc().poolSize();
        pool = poolOf(size);
    }

    int size() {
        return size;
    }

    /** Connections open at this moment; 0 before the first use. */
    int connections() {
        return pool.getMetrics().map(PoolMetrics::allocatedSize).orElse(0);
    }

    /** Connections that a query has at this moment. */
    int busy() {
        return pool.getMetrics().map(PoolMetrics::acquiredSize).orElse(0);
    }

    /** Queries that wait for a connection at this moment. */
    int waiting() {
        return waiting(pool);
    }

    /** Sends new queries to a pool of this size; the old one closes when nobody waits for it any more. */
    synchronized void resize(int wanted) {
        if (wanted == size) {
            return;
        }
        ConnectionPool before = pool;
        pool = poolOf(wanted);
        size = wanted;
        Flux.interval(Duration.ZERO, LOOK_AGAIN)
                .takeUntil(_ -> waiting(before) == 0)
                .then(Mono.defer(before::disposeLater))
                .subscribe();
    }

    private static int waiting(ConnectionPool pool) {
        return pool.getMetrics().map(PoolMetrics::pendingAcquireSize).orElse(0);
    }

    private ConnectionPool poolOf(int connections) {
        return new ConnectionPool(ConnectionPoolConfiguration.builder(driver(lab.db()))
                .name("r2dbc")
                .initialSize(connections)
                .minIdle(connections)
                .maxSize(connections)
                .maxAcquireTime(lab.r2dbc().queueTimeout())
                .maxCreateConnectionTime(lab.db().connectTimeout())
                .build());
    }

    private static ConnectionFactory driver(LabProperties.Db db) {
        return new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
                .host(db.host())
                .port(db.port())
                .database(db.name())
                .username(db.user())
                .password(db.password())
                .connectTimeout(db.connectTimeout())
                .build());
    }

    @Override
    public Publisher<? extends Connection> create() {
        return pool.create();
    }

    @Override
    public ConnectionFactoryMetadata getMetadata() {
        return pool.getMetadata();
    }

    @Override
    public void close() {
        pool.dispose();
    }
}
