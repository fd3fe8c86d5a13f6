package waitlab.mvc.trains;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import waitlab.shared.LabClock;

/** What a run cost: connections, workers, and the processor time that the JVM counts for itself. */
@Trains
@RestController
class WatchHandlers {

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final PoolWatch watch;
    private final Tables tables;

    WatchHandlers(PoolWatch watch, Tables tables) {
        this.watch = watch;
        this.tables = tables;
    }

    @GetMapping("/watch")
    Map<String, Object> seen() {
        return watch.answer();
    }

    @DeleteMapping("/watch")
    Map<String, Object> startWatching() {
        tables.doubt();
        tables.ready();
        watch.start();
        return watch.answer();
    }

    /** Processor time of all threads of this JVM since its start; only differences mean anything. */
    @GetMapping("/cpu")
    Map<String, Long> processor() {
        return Map.of(
                "process_cpu_us", TimeUnit.NANOSECONDS.toMicros(SYSTEM.getProcessCpuTime()), "at_us", LabClock.nowUs());
    }
}
