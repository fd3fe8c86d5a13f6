package waitlab.mvc;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.stereotype.Component;
import waitlab.shared.Backlog;
import waitlab.shared.JdbcPool;

/** One line in the log that says how many of everything this server has. */
@Component
class StartLine implements ApplicationListener<ApplicationReadyEvent> {

    private static final Logger LOG = LoggerFactory.getLogger("start");

    private final JdbcPool jdbc;
    private final WorkerPool pool;

    StartLine(JdbcPool jdbc, WorkerPool pool) {
        this.jdbc = jdbc;
        this.pool = pool;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent ready) {
        LOG.info(
                "availableProcessors={} poolSize={} maxConnections={} backlog={} jdbcMaximumPoolSize={}",
                Runtime.getRuntime().availableProcessors(),
                pool.size(),
                Connectors.MAX_CONNECTIONS,
                Backlog.inForce(),
                jdbc.size());
    }
}
