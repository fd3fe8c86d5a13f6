package waitlab.mvc.trains;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.TestPropertySource;
import tools.jackson.databind.JsonNode;
import waitlab.mvc.RunningApp;
import waitlab.mvc.WorkerPool;
import waitlab.shared.Guard;
import waitlab.shared.JdbcPool;

/** The app with its trains, on a database in memory, with an API that the test holds in its hand. */
@ActiveProfiles("trains")
@TestPropertySource(
        properties = {
            "lab.db.url=jdbc:h2:mem:trains;MODE=PostgreSQL;DB_CLOSE_DELAY=-1",
            "lab.jdbc.pool-size=3",
            "lab.jdbc.queue-timeout=5s"
        })
abstract class RunningTrains extends RunningApp {

    static final StubApi API = StubApi.ONLY;

    private static final List<String> OURS = List.of(Guard.TOKEN_HEADER, TOKEN);

    @Autowired
    JdbcPool pool;

    @Autowired
    WorkerPool workers;

    @BeforeEach
    void theApiIsKnown() {
        assertThat(change("PUT", "/api?url=" + API.url()).status()).isEqualTo(200);
    }

    @AfterEach
    void nobodyIsHeld() {
        API.forget();
    }

    /** Waits until something holds; it is an error if it never does. */
    static void until(BooleanSupplier holds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!holds.getAsBoolean()) {
            assertThat(System.nanoTime()).as("ten seconds").isLessThan(end);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    Answer change(String method, String path) {
        return send(method, path, "", OURS);
    }

    Answer settings(String body) {
        return send("PUT", "/settings", body, OURS);
    }

    JsonNode ok(String path) {
        Answer answer = get(path);
        assertThat(answer.status()).as(path).isEqualTo(200);
        return answer.body();
    }
}
