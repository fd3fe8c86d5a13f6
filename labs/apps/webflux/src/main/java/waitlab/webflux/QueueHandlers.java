package waitlab.webflux;

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

    QueueHandlers(JdbcPool jdbc, R2dbcPool r2dbc, OffloadPool offload, Listener listener) {
        watch.with("accept", new AcceptQueue(listener::port)::waiting)
                .with("offload_busy", offload::busy)
                .with("offload_waiting", offload::waiting)
                .with("jdbc_busy", jdbc::busy)
                .with("jdbc_waiting", jdbc::waiting)
                .with("r2dbc_busy", r2dbc::busy)
                .with("r2dbc_waiting", r2dbc::waiting);
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
