package waitlab.mvc;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.catalina.util.ServerInfo;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.SpringBootVersion;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import waitlab.shared.Backlog;
import waitlab.shared.Changes;
import waitlab.shared.JdbcPool;
import waitlab.shared.JvmFacts;
import waitlab.shared.ThreadPeaks;

/** Every limit in force, read from the part that enforces it; the ones that change live; and the count of threads. */
@RestController
class SettingsHandlers {

    private static final int LONGEST_WAIT_MS = 60_000;

    private final JdbcPool jdbc;
    private final WorkerPool pool;
    private final Connectors connectors;
    private final WorkerCount workers;
    private final List<MoreSettings> more;
    private final ThreadPeaks peaks = new ThreadPeaks(name -> name.contains("-exec-"));
    private final Changes changes;

    SettingsHandlers(
            JdbcPool jdbc,
            WorkerPool pool,
            Connectors connectors,
            WorkerCount workers,
            ObjectProvider<MoreSettings> more) {
        this.jdbc = jdbc;
        this.pool = pool;
        this.connectors = connectors;
        this.workers = workers;
        this.more = more.orderedStream().toList();
        changes = new Changes()
                .allow("pool_size", WorkerPool.LARGEST, pool::resize)
                .allow("jdbc_pool_size", JdbcPool.LARGEST, jdbc::resize)
                .allow("connection_timeout_ms", JdbcPool.SHORTEST_WAIT_MS, LONGEST_WAIT_MS, this::connectionTimeout);
    }

    @GetMapping("/settings")
    Map<String, Object> settings() {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("app", "mvc");
        JvmFacts.addTo(settings);
        addPorts(settings);
        addThreads(settings);
        settings.put("jdbc_pool_size", jdbc.size());
        settings.put("jdbc_connections", jdbc.connections());
        settings.put("jdbc_driver_timeout_ms", jdbc.driverTimeout().toMillis());
        settings.put("connection_timeout_ms", jdbc.queueTimeout().toMillis());
        settings.put("trains", false);
        settings.put("open_in_view", false);
        more.forEach(part -> part.addTo(settings));
        settings.put("spring_boot", SpringBootVersion.getVersion());
        settings.put("tomcat", ServerInfo.getServerNumber());
        return settings;
    }

    @PutMapping("/settings")
    Map<String, Object> change(@RequestBody Map<String, Object> wanted) {
        changes.apply(wanted);
        return settings();
    }

    @GetMapping("/threads/peak")
    Map<String, Object> peak() {
        return peaks.answer(workers.peak());
    }

    @DeleteMapping("/threads/peak")
    Map<String, Object> startCounting() {
        pool.shedIdle();
        more.forEach(MoreSettings::shedIdle);
        workers.reset();
        peaks.reset(pool::alive);
        return peak();
    }

    private void connectionTimeout(int ms) {
        jdbc.queueTimeout(Duration.ofMillis(ms));
    }

    private void addPorts(Map<String, Object> settings) {
        settings.put("port", connectors.platformPort());
        settings.put("virtual_port", connectors.virtualPort());
        settings.put("control_port", connectors.virtualPort());
        settings.put("backlog", Backlog.inForce());
        settings.put("accept_count", connectors.platformProtocol().getAcceptCount());
        settings.put("max_connections", connectors.platformProtocol().getMaxConnections());
    }

    private void addThreads(Map<String, Object> settings) {
        settings.put("pool_size", pool.size());
        settings.put("workers", pool.alive());
        settings.put("workers_busy", pool.busy());
        settings.put("platform_threads", ThreadPeaks.now());
    }
}
