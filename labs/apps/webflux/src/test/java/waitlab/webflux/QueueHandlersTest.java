package waitlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import waitlab.shared.Guard;

class QueueHandlersTest extends RunningApp {

    private static final List<String> OURS = List.of(Guard.TOKEN_HEADER, TOKEN);
    private static final int REQUESTS = 7;
    private static final int THREADS = 3;

    /** Whether one look saw both at once. */
    private static boolean together(JsonNode series, String busy, int working, String queue, int waiting) {
        return IntStream.range(0, series.get(busy).size())
                .anyMatch(i -> series.get(busy).get(i).asInt() == working && series.get(queue).get(i).asInt() == waiting);
    }

    @AfterEach
    void back() {
        send("PUT", "/settings", "{\"offload_pool_size\": %d}".formatted(OffloadPool.usualSize()), OURS);
    }

    @Test
    void seesTheOffloadPoolAtWorkAndItsQueue() {
        send("PUT", "/settings", "{\"offload_pool_size\": %d}".formatted(THREADS), OURS);
        assertThat(send("DELETE", "/queues", "", OURS).status()).isEqualTo(200);
        List<CompletableFuture<Answer>> sent =
                IntStream.range(0, REQUESTS).mapToObj(_ -> getLater("/jdbc-isolated?s=0.8")).toList();
        assertThat(sent).allSatisfy(s -> assertThat(s.join().status()).isEqualTo(200));
        JsonNode series = get("/queues").body().get("series");
        assertThat(together(series, "offload_busy", THREADS, "offload_waiting", REQUESTS - THREADS)).isTrue();
        assertThat(series.get("r2dbc_busy").size()).isEqualTo(series.get("accept").size());
    }

    @Test
    void isWatchedOnlyWithTheTokenAndWithinBounds() {
        assertThat(send("DELETE", "/queues", "", List.of()).status()).isEqualTo(403);
        assertThat(send("DELETE", "/queues?seconds=901", "", OURS).status()).isEqualTo(400);
    }
}
