package waitlab.mvc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import waitlab.shared.Guard;

class QueueHandlersTest extends RunningApp {

    private static final List<String> OURS = List.of(Guard.TOKEN_HEADER, TOKEN);
    private static final int REQUESTS = 30;

    private JsonNode series() {
        return get(VIRTUAL + "/queues").body().get("series");
    }

    /** Whether one look saw the pool and its queue like this. */
    private static boolean together(JsonNode series, int working, int waiting) {
        JsonNode busy = series.get("workers_busy");
        return IntStream.range(0, busy.size())
                .anyMatch(i -> busy.get(i).asInt() == working && series.get("workers_waiting").get(i).asInt() == waiting);
    }

    private static int highest(JsonNode values) {
        return IntStream.range(0, values.size()).map(i -> values.get(i).asInt()).max().orElse(-1);
    }

    @ParameterizedTest
    @CsvSource({"'', 20, 10, 0", "//virtual, 0, 0, 30"})
    void seesWhoWorksAndWhoWaits(String door, int busy, int waiting, int virtual) {
        assertThat(send("DELETE", VIRTUAL + "/queues", "", OURS).status()).isEqualTo(200);
        List<CompletableFuture<Answer>> sent =
                IntStream.range(0, REQUESTS).mapToObj(_ -> getLater(door + "/work?ms=1000")).toList();
        assertThat(sent).allSatisfy(s -> assertThat(s.join().status()).isEqualTo(200));
        JsonNode series = series();
        assertThat(together(series, busy, waiting)).isTrue();
        assertThat(highest(series.get("virtual_in_flight"))).isBetween(virtual, virtual + 1);
    }

    @Test
    void isWatchedOnlyWithTheTokenAndWithinBounds() {
        assertThat(send("DELETE", "/queues", "", List.of()).status()).isEqualTo(403);
        assertThat(send("DELETE", "/queues?seconds=0", "", OURS).status()).isEqualTo(400);
    }
}
