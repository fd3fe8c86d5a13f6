package waitlab.webflux;

import io.netty.channel.EventLoopGroup;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.springframework.boot.SpringBootVersion;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.scheduler.Schedulers;
import waitlab.shared.Changes;
import waitlab.shared.JdbcPool;
import waitlab.shared.JvmFacts;

/** Every limit in force, read from the part that enforces it; and the way to change those that can change live. */
@RestController
class SettingsHandlers {

    private final JdbcPool jdbc;
    private final R2dbcPool r2dbc;
    private final OffloadPool offload;
    private final Listener listener;
    private final EventLoopGroup loops;
    private final Changes changes;

    SettingsHandlers(
            JdbcPool jdbc, R2dbcPool r2dbc, OffloadPool offload, Listener listener, ReactorResourceFactory reactor) {
        this.jdbc = jdbc;
        this.r2dbc = r2dbc;
        this.offload = offload;
        this.listener = listener;
        loops = reactor.getLoopResources().onServer(true);
        changes = new Changes()
                .allow("offload_pool_size", OffloadPool.LARGEST, offload::resize)
                .allow("jdbc_pool_size", JdbcPool.LARGEST, jdbc::resize)
                .allow("r2dbc_pool_size", R2dbcPool.LARGEST, r2dbc::resize);
    }

    @GetMapping("/settings")
    Map<String, Object> settings() {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("app", "webflux");
        JvmFacts.addTo(settings);
        addLoops(settings);
        addPools(settings);
        settings.put("blockhound", BlockingReports.installed());
        settings.put("spring_boot", SpringBootVersion.getVersion());
        settings.put("netty", EventLoopGroup.class.getPackage().getImplementationVersion());
        return settings;
    }

    @PutMapping("/settings")
    Map<String, Object> change(@RequestBody Map<String, Object> wanted) {
        changes.apply(wanted);
        return settings();
    }

    @GetMapping("/blockhound")
    Map<String, Object> reports() {
        return Map.of("installed", BlockingReports.installed(), "reports", BlockingReports.seen());
    }

    @DeleteMapping("/blockhound")
    Map<String, Object> forget() {
        BlockingReports.forget();
        return reports();
    }

    private void addLoops(Map<String, Object> settings) {
        settings.put("event_loops", StreamSupport.stream(loops.spliterator(), false).count());
        settings.put("accept", listener.sharesLoopWith(loops) ? "shared" : "own");
        settings.put("accepting_thread", listener.acceptingThread());
        settings.put("backlog", listener.backlog());
        settings.put("transport", listener.transport());
    }

    private void addPools(Map<String, Object> settings) {
        settings.put("offload_pool_size", offload.size());
        settings.put("offload_pool", offload.name());
        settings.put("bounded_elastic_size", Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE);
        settings.put("bounded_elastic_queue_per_thread", Schedulers.DEFAULT_BOUNDED_ELASTIC_QUEUESIZE);
        settings.put("jdbc_pool_size", jdbc.size());
        settings.put("jdbc_connections", jdbc.connections());
        settings.put("jdbc_driver_timeout_ms", jdbc.driverTimeout().toMillis());
        settings.put("r2dbc_pool_size", r2dbc.size());
        settings.put("r2dbc_connections", r2dbc.connections());
    }
}
