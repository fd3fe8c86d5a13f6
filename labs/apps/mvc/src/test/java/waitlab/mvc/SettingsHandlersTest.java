package waitlab.mvc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import waitlab.shared.Guard;

class SettingsHandlersTest extends RunningApp {

    private static final List<String> OURS = List.of(Guard.TOKEN_HEADER, TOKEN);
    private static final int AT_FIRST = 20;
    private static final int FEW_THREADS_OF_THE_CLIENT = 25;

    private Answer put(String body) {
        return send("PUT", VIRTUAL + "/settings", body, OURS);
    }

    private JsonNode settings() {
        return get(VIRTUAL + "/settings").body();
    }

    private JsonNode startCounting() {
        return send("DELETE", VIRTUAL + "/threads/peak", "", OURS).body();
    }

    private void burst(String path, int requests) {
        List<CompletableFuture<Answer>> sent =
                IntStream.range(0, requests).mapToObj(i -> getLater(path)).toList();
        assertThat(sent).allSatisfy(s -> assertThat(s.join().status()).isEqualTo(200));
    }

    @AfterEach
    void back() {
        put("{\"pool_size\": %d, \"jdbc_pool_size\": 10}".formatted(AT_FIRST));
    }

    @Test
    void readsEveryLimitInForce() {
        JsonNode settings = settings();
        assertThat(settings.get("available_processors").asInt()).isEqualTo(Runtime.getRuntime().availableProcessors());
        assertThat(settings.get("pool_size").asInt()).isEqualTo(AT_FIRST);
        assertThat(settings.get("accept_count").asInt()).isEqualTo(4096);
        assertThat(settings.get("backlog").asInt()).isBetween(1, 4096);
        assertThat(settings.get("max_connections").asInt()).isGreaterThanOrEqualTo(8192);
        assertThat(settings.get("jdbc_pool_size").asInt()).isEqualTo(10);
        assertThat(settings.get("control_port")).isEqualTo(settings.get("virtual_port"));
        assertThat(settings.get("port").asInt()).isNotEqualTo(settings.get("virtual_port").asInt());
        assertThat(settings.get("tomcat").asString()).startsWith("11.");
    }

    @Test
    void thePoolGrowsAndShrinksWhileItServes() {
        for (int size : new int[] {40, 1, 7, 300, AT_FIRST}) {
            Answer answer = put("{\"pool_size\": %d}".formatted(size));
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.body().get("pool_size").asInt()).isEqualTo(size);
            assertThat(settings().get("pool_size").asInt()).isEqualTo(size);
        }
    }

    @Test
    void runningRequestsFinishWhenThePoolShrinks() {
        List<CompletableFuture<Answer>> sent =
                IntStream.range(0, 10).mapToObj(i -> getLater("/work?ms=300")).toList();
        put("{\"pool_size\": 2}");
        assertThat(sent).allSatisfy(s -> assertThat(s.join().status()).isEqualTo(200));
    }

    @Test
    void countsExactlyTheWorkersThatServedABurst() {
        put("{\"pool_size\": 30}");
        burst("/work?ms=20", 60);
        put("{\"pool_size\": 6}");
        JsonNode start = startCounting();
        assertThat(start.get("workers_peak").asInt()).isZero();
        burst("/work?ms=300", 30);
        JsonNode peak = get(VIRTUAL + "/threads/peak").body();
        assertThat(peak.get("workers_peak").asInt()).isEqualTo(6);
        assertThat(peak.get("platform_threads_baseline")).isEqualTo(start.get("platform_threads_baseline"));
        assertThat(peak.get("platform_threads_peak").asInt())
                .isGreaterThanOrEqualTo(start.get("platform_threads_baseline").asInt() + 6);
    }

    @Test
    void countsNoWorkerForVirtualThreads() {
        burst("/work?ms=20", 30);
        assertThat(startCounting().get("workers_peak").asInt()).isZero();
        burst(VIRTUAL + "/work?ms=50", 60);
        assertThat(get("/threads/peak").body().get("workers_peak").asInt()).isZero();
    }

    @Test
    void workersThatAreStillOnTheirWayHomeAreNotInTheBaseline() {
        int quiet = startCounting().get("platform_threads_baseline").asInt();
        put("{\"pool_size\": 300}");
        burst("/work?ms=300", 200);
        JsonNode start = startCounting();
        assertThat(start.get("platform_threads_baseline").asInt()).isLessThan(quiet + FEW_THREADS_OF_THE_CLIENT);
        assertThat(start.get("platform_threads_peak").asInt()).isLessThan(quiet + FEW_THREADS_OF_THE_CLIENT);
    }

    @Test
    void idleWorkersAreSentHomeAndTheOneThatAsksIsNotInTheBaseline() {
        burst("/work?ms=50", 20);
        int quiet = startCounting().get("platform_threads_baseline").asInt();
        assertThat(settings().get("workers").asInt()).isZero();
        JsonNode asked = send("DELETE", "/threads/peak", "", OURS).body();
        assertThat(asked.get("platform_threads_baseline").asInt()).isBetween(quiet - 4, quiet + 4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "[]", "7", "nonsense", "{}", "{\"cpus\": 2}", "{\"pool_size\": 0}",
        "{\"pool_size\": 5001}", "{\"pool_size\": \"4\"}", "{\"pool_size\": true}", "{\"pool_size\": 1.5}",
        "{\"pool_size\": null}", "{\"pool_size\": 4, \"jdbc_pool_size\": -1}"})
    void refusesABadValueAndChangesNothing(String body) {
        Answer answer = put(body);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.body().get("error").asString()).endsWith(".");
        assertThat(settings().get("pool_size").asInt()).isEqualTo(AT_FIRST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", VIRTUAL})
    void isChangedOnlyWithTheTokenAndNotFromElsewhere(String port) {
        List<String> foreign = List.of(Guard.TOKEN_HEADER, TOKEN, "Origin", "http://evil.example");
        List<String> elsewhere = List.of(Guard.TOKEN_HEADER, TOKEN, "Host", "evil.example");
        for (List<String> headers : List.of(List.<String>of(), List.of(Guard.TOKEN_HEADER, "guess"), foreign, elsewhere)) {
            assertThat(send("PUT", port + "/settings", "{\"pool_size\": 2}", headers).status()).isEqualTo(403);
            assertThat(send("DELETE", port + "/threads/peak", "", headers).status()).isEqualTo(403);
        }
        assertThat(settings().get("pool_size").asInt()).isEqualTo(AT_FIRST);
    }
}
