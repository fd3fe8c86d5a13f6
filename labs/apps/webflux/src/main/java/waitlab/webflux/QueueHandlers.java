package waitlab.webflux;

import org.springframework.web.bind.annotation.RestController;
import waitlab.shared.AcceptQueue;
import waitlab.shared.JdbcPool;
import waitlab.shared.QueueEndpoints;
import waitlab.shared.QueueWatch;

/** The queues before the offload pool and before both pools of connections. */
@RestController
class QueueHandlers extends QueueEndpoints {

    QueueHandlers(JdbcPool jdbc, R2dbcPool r2dbc, OffloadPool offload, Listener listener) {
        super(new QueueWatch()
                .with("accept", new AcceptQueue(listener::port)::waiting)
                .with("offload_busy", offload::busy)
                .with("offload_waiting", offload::waiting)
                .with("jdbc_busy", jdbc::busy)
                .with("jdbc_waiting", jdbc::waiting)
                .with("r2dbc_busy", r2dbc::busy)
                .with("r2dbc_waiting", r2dbc::waiting));
    }
}
