package waitlab.webflux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestTemplate;
import reactor.core.publisher.Mono;
import waitlab.shared.Burn;
import waitlab.shared.JdbcPool;
import waitlab.shared.Reply;
import waitlab.shared.Waits;

/**
 * Calls that pass a code review, because none of them says that it waits. Each holds the event loop for as long as it
 * takes; {@code ms} is how long that shall be, where somebody else decides it.
 */
@RestController
@RequestMapping("/innocent")
class InnocentHandlers {

    private static final int FILE_BYTES = 32 << 20;
    private static final int LINES = 3_000;
    private static final String QUERY = "select pg_sleep(?)";

    private final RestTemplate restTemplate = new RestTemplate(new SimpleClientHttpRequestFactory());
    private final Contended contended = new Contended();
    private final JdbcTemplate jdbcTemplate;
    private final SlowNeighbour neighbour;

    /** Made when they are first used. */
    private static final class Report {
        static final Path FILE = written();

        private static Path written() {
            try {
                Path file = Files.createTempFile("report", ".bin");
                file.toFile().deleteOnExit();
                return Files.write(file, new byte[FILE_BYTES]);
            } catch (IOException refused) {
                throw new IllegalStateException(refused);
            }
        }
    }

    private static final class Audit {
        static final Logger LOG = AuditLog.open();
    }

    InnocentHandlers(JdbcPool pool, SlowNeighbour neighbour) {
        jdbcTemplate = pool.template();
        this.neighbour = neighbour;
    }

    @GetMapping("/jdbc-template")
    Mono<Reply> jdbcTemplate(@RequestParam(name = "ms", required = false) String ms) {
        double seconds = Waits.inSeconds(Waits.ofMillis(ms));
        return held(() -> {
            // snippet: jdbc-template
            jdbcTemplate.queryForList(QUERY, seconds);
            // end
        });
    }

    @GetMapping("/rest-template")
    Mono<Reply> restTemplate(@RequestParam(name = "ms", required = false) String ms) {
        String url = neighbour.url(Waits.ofMillis(ms));
        return held(() -> {
            // snippet: rest-template
            restTemplate.getForObject(url, String.class);
            // end
        });
    }

    @GetMapping("/lock")
    Mono<Reply> lock(@RequestParam(name = "ms", required = false) String ms) {
        Duration time = Waits.ofMillis(ms);
        return Mono.fromCallable(() -> contended.lockHeldFor(time)).map(lock -> Reply.of(() -> {
            // snippet: lock
            lock.lock();
            // end
            lock.unlock();
        }));
    }

    @GetMapping("/synchronized")
    Mono<Reply> synchronizedBlock(@RequestParam(name = "ms", required = false) String ms) {
        Duration time = Waits.ofMillis(ms);
        return Mono.fromCallable(() -> contended.monitorHeldFor(time)).map(monitor -> Reply.of(() -> {
            // snippet: synchronized
            synchronized (monitor) {
                // whatever stands here waits until the other thread has left
            }
            // end
        }));
    }

    @GetMapping("/read-file")
    Mono<Reply> readFile() {
        Path file = Report.FILE;
        return held(() -> {
            try {
                // snippet: read-file
                Files.readAllBytes(file);
                // end
            } catch (IOException gone) {
                throw new IllegalStateException(gone);
            }
        });
    }

    @GetMapping("/log")
    Mono<Reply> log() {
        Logger log = Audit.LOG;
        return held(() -> {
            for (int line = 0; line < LINES; line++) {
                // snippet: log
                log.info("order {} is paid", line);
                // end
            }
        });
    }

    @GetMapping("/calculation")
    Mono<Reply> calculation(@RequestParam(name = "ms", required = false) String ms) {
        Duration time = Waits.ofMillis(ms);
        return held(() -> Burn.processor(time));
    }

    /** The shape of all of them: deferred, and still on the loop that subscribes. */
    private static Mono<Reply> held(Runnable call) {
        return Mono.fromCallable(() -> Reply.of(call));
    }
}
