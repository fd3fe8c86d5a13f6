package waitlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import waitlab.shared.LabClock;

/** Which kind of thread each endpoint's work holds; the reason why the app exists. */
class WaitingHandlersTest extends RunningApp {

    private static final String LOOP = "-http-";
    private static final String ELASTIC = "boundedElastic-";

    @ParameterizedTest
    @ValueSource(strings = {"/fast", "/sleep?ms=5", "/jdbc?s=0.005"})
    void holdsAnEventLoop(String path) {
        assertThat(get(path).body().get("thread").asString()).contains(LOOP);
    }

    @Test
    void isolatesTheQueryOnAnElasticThread() {
        assertThat(get("/jdbc-isolated?s=0.005").body().get("thread").asString()).startsWith(ELASTIC);
    }

    @Test
    void publishOnMovesOnlyWhatComesAfterIt() {
        JsonNode body = get("/jdbc-publish?s=0.005").body();
        assertThat(body.get("before").asString()).contains(LOOP).isEqualTo(body.get("thread").asString());
        assertThat(body.get("after").asString()).startsWith(ELASTIC);
    }

    @Test
    void publishOnMovesACallableThatStandsDirectlyAboveIt() {
        JsonNode body = get("/callable-publish?s=0.005").body();
        assertThat(body.get("before").asString()).startsWith(ELASTIC).isEqualTo(body.get("thread").asString());
        assertThat(body.get("after").asString()).startsWith(ELASTIC);
    }

    @Test
    void aReactiveQueryHoldsNoLoopAndNoElasticThread() {
        assertThat(get("/r2dbc?s=0.005").body().get("thread").asString()).doesNotContain(LOOP, ELASTIC, "offload");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sleep?ms=40", "jdbc?s=0.04", "jdbc-isolated?s=0.04", "jdbc-publish?s=0.04",
        "callable-publish?s=0.04", "r2dbc?s=0.04"})
    void saysWhenTheWorkWasDone(String path) {
        long before = LabClock.nowUs();
        JsonNode body = get("/" + path).body();
        long started = body.get("started_us").asLong();
        long ended = body.get("ended_us").asLong();
        assertThat(Stream.of(before, started, ended, LabClock.nowUs())).isSorted();
        assertThat(ended - started).isGreaterThanOrEqualTo(40_000);
    }

    @Test
    void queriesOnDistinctElasticThreadsRunAtOnce() {
        List<CompletableFuture<Answer>> queries =
                Stream.generate(() -> getLater("/jdbc-isolated?s=1")).limit(8).toList();
        assertThat(queries.stream().map(q -> q.join().body().get("thread").asString()).distinct()).hasSize(8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sleep?ms=", "sleep?ms=abc", "sleep?ms=-1", "sleep?ms=1.5", "sleep?ms=60001", "sleep?ms=1&ms=2",
        "jdbc?s=", "jdbc-isolated?s=61", "jdbc-publish?s=-1", "callable-publish?s=NaN", "r2dbc?s=1e1"})
    void answersABadDurationWithASentence(String path) {
        Answer answer = get("/" + path);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.body().propertyNames()).containsExactly("error");
        assertThat(answer.body().get("error").asString()).contains(" must be a ", " to 60").endsWith(".");
    }

    @Test
    void knowsNoOtherPath() {
        assertThat(get("/nope").status()).isEqualTo(404);
        assertThat(get("/actuator/env").status()).isEqualTo(404);
        assertThat(get("/actuator/health").body().get("status").asString()).isEqualTo("UP");
    }
}
