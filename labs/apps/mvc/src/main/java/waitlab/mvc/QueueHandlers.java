package waitlab.mvc;

import java.util.Map;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import waitlab.shared.AcceptQueue;
import waitlab.shared.JdbcPool;
import waitlab.shared.QueueWatch;

/** Where requests wait in this server, and what is busy: watched from a DELETE on, read by a GET. */
@RestController
class QueueHandlers {

    private final QueueWatch watch = new QueueWatch();

    QueueHandlers(JdbcPool jdbc, WorkerPool pool, Connectors connectors, InFlight inFlight) {
        watch.with("accept", new AcceptQueue(connectors::platformPort)::waiting)
                .with("accept_virtual", new AcceptQueue(connectors::virtualPort)::waiting)
                .with("workers_busy", pool::busy)
                .with("workers_waiting", pool::waiting)
                .with("virtual_in_flight", inFlight::onVirtualThreads)
                .with("jdbc_busy", jdbc::busy)
                .with("jdbc_waiting", jdbc::waiting);
    }

    @GetMapping("/queues")
    Map<String, Object> queues() {
        return watch.answer();
    }

    @DeleteMapping("/queues")
    Map<String, Object> watchAnew(@RequestParam(name = "seconds", required = false) String seconds) {
        return watch.start(seconds);
    }
}
