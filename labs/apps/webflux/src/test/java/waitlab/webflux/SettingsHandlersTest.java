package waitlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import waitlab.shared.Guard;

class SettingsHandlersTest extends RunningApp {

    private static final List<String> OURS = List.of(Guard.TOKEN_HEADER, TOKEN);

    private Answer put(String body) {
        return send("PUT", "/settings", body, OURS);
    }

    @AfterEach
    void back() {
        put("{\"offload_pool_size\": %d, \"jdbc_pool_size\": 10, \"r2dbc_pool_size\": 10}"
                .formatted(OffloadPool.usualSize()));
    }

    @Test
    void readsEveryLimitInForce() {
        JsonNode settings = get("/settings").body();
        int processors = Runtime.getRuntime().availableProcessors();
        assertThat(settings.get("available_processors").asInt()).isEqualTo(processors);
        assertThat(settings.get("event_loops").asInt()).isEqualTo(Math.max(processors, 4));
        assertThat(settings.get("bounded_elastic_size").asInt()).isEqualTo(10 * processors);
        assertThat(settings.get("bounded_elastic_queue_per_thread").asInt()).isEqualTo(100_000);
        assertThat(settings.get("backlog").asInt()).isEqualTo(AppConfiguration.BACKLOG);
        assertThat(settings.get("accept").asString()).isEqualTo("shared");
        assertThat(settings.get("accepting_thread").asString()).contains("-http-");
        assertThat(settings.get("transport").asString()).isIn("epoll", "nio", "kqueue", "io_uring");
        assertThat(settings.get("jdbc_pool_size").asInt()).isEqualTo(10);
        assertThat(settings.get("netty").asString()).startsWith("4.2.");
    }

    @Test
    void answersWhatIsNowInForce() {
        Answer answer = put("{\"offload_pool_size\": 3, \"jdbc_pool_size\": 21, \"r2dbc_pool_size\": 7}");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body().get("offload_pool_size").asInt()).isEqualTo(3);
        assertThat(answer.body().get("offload_pool").asString()).isEqualTo("offload");
        assertThat(get("/settings").body().get("jdbc_pool_size").asInt()).isEqualTo(21);
        assertThat(get("/settings").body().get("r2dbc_pool_size").asInt()).isEqualTo(7);
    }

    @Test
    void runningRequestsFinishWhenTheOffloadPoolIsResized() {
        put("{\"offload_pool_size\": 1}");
        CompletableFuture<Answer> first = getLater("/jdbc-isolated?s=0.3");
        CompletableFuture<Answer> second = getLater("/jdbc-isolated?s=0.3");
        put("{\"offload_pool_size\": 2}");
        assertThat(first.join().status()).isEqualTo(200);
        assertThat(second.join().status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "[]", "7", "nonsense", "{}", "{\"cpus\": 2}", "{\"offload_pool_size\": 0}",
        "{\"offload_pool_size\": 2001}", "{\"offload_pool_size\": \"4\"}", "{\"offload_pool_size\": true}",
        "{\"offload_pool_size\": 1.5}", "{\"offload_pool_size\": null}", "{\"offload_pool_size\": 4, \"jdbc_pool_size\": -1}"})
    void refusesABadValueAndChangesNothing(String body) {
        Answer answer = put(body);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.body().get("error").asString()).endsWith(".");
        assertThat(get("/settings").body().get("offload_pool_size").asInt()).isEqualTo(OffloadPool.usualSize());
    }

    @Test
    void isChangedOnlyWithTheToken() {
        assertThat(send("PUT", "/settings", "{}", List.of()).status()).isEqualTo(403);
        assertThat(send("PUT", "/settings", "{}", List.of(Guard.TOKEN_HEADER, "guess")).status()).isEqualTo(403);
        assertThat(send("DELETE", "/blockhound", "", List.of()).status()).isEqualTo(403);
        assertThat(send("DELETE", "/blockhound", "", OURS).status()).isEqualTo(200);
    }

    @Test
    void isNotChangedFromElsewhere() {
        List<String> foreignOrigin = List.of(Guard.TOKEN_HEADER, TOKEN, "Origin", "http://evil.example");
        List<String> foreignHost = List.of(Guard.TOKEN_HEADER, TOKEN, "Host", "evil.example");
        assertThat(send("PUT", "/settings", "{\"jdbc_pool_size\": 2}", foreignOrigin).status()).isEqualTo(403);
        assertThat(send("PUT", "/settings", "{\"jdbc_pool_size\": 2}", foreignHost).status()).isEqualTo(403);
        assertThat(get("/settings").body().get("jdbc_pool_size").asInt()).isEqualTo(10);
    }
}
