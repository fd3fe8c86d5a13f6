package waitlab.mvc;

import org.springframework.web.bind.annotation.RestController;
import waitlab.shared.AcceptQueue;
import waitlab.shared.JdbcPool;
import waitlab.shared.QueueEndpoints;
import waitlab.shared.QueueWatch;

/** Tomcat's queues, on either kind of thread, and the pool's. */
@RestController
class QueueHandlers extends QueueEndpoints {

    QueueHandlers(JdbcPool jdbc, WorkerPool pool, Connectors connectors, InFlight inFlight) {
        super(new QueueWatch()
                .with("accept", new AcceptQueue(connectors::platformPort)::waiting)
                .with("accept_virtual", new AcceptQueue(connectors::virtualPort)::waiting)
                .with("workers_busy", pool::busy)
                .with("workers_waiting", pool::waiting)
                .with("virtual_in_flight", inFlight::onVirtualThreads)
                .with("jdbc_busy", jdbc::busy)
                .with("jdbc_waiting", jdbc::waiting));
    }
}
