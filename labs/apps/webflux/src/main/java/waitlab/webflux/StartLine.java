package waitlab.webflux;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.stereotype.Component;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;
import waitlab.shared.JdbcPool;

/** One line in the log that says how many of everything this server has. */
@Component
class StartLine implements ApplicationListener<ApplicationReadyEvent> {

    private static final Logger LOG = LoggerFactory.getLogger("start");

    private final JdbcPool jdbc;

    StartLine(JdbcPool jdbc) {
        this.jdbc = jdbc;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent ready) {
        LOG.info(
                "availableProcessors={} ioWorkerCount={} boundedElasticSize={} boundedElasticQueueSize={}"
                        + " jdbcMaximumPoolSize={}",
                Runtime.getRuntime().availableProcessors(),
                LoopResources.DEFAULT_IO_WORKER_COUNT,
                Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE,
                Schedulers.DEFAULT_BOUNDED_ELASTIC_QUEUESIZE,
                jdbc.size());
    }
}
