package waitlab.mvc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import waitlab.shared.LabClock;

/** The same work behind both ports, and the kind of thread that each port gives it. */
class WorkHandlersTest extends RunningApp {

    private static long held(JsonNode body) {
        return body.get("ended_us").asLong() - body.get("started_us").asLong();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/fast", "/work?ms=5", "/work?ms=5&downstream=postgres", "/work?ms=5&calls=2&parallel=true"})
    void theFirstPortGivesAWorkerOfThePool(String path) {
        JsonNode body = get(path).body();
        assertThat(body.get("virtual").asBoolean()).isFalse();
        assertThat(body.get("thread").asString()).startsWith("http-nio-").contains("-exec-");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/fast", "/work?ms=5", "/work?ms=5&downstream=postgres", "/work?ms=5&calls=2&parallel=true"})
    void theSecondPortGivesAVirtualThread(String path) {
        JsonNode body = get(VIRTUAL + path).body();
        assertThat(body.get("virtual").asBoolean()).isTrue();
        assertThat(body.get("thread").asString()).startsWith("virtual-");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", VIRTUAL})
    void saysWhenTheThreadWasHeld(String port) {
        long before = LabClock.nowUs();
        JsonNode body = get(port + "/work?ms=40").body();
        long started = body.get("started_us").asLong();
        long ended = body.get("ended_us").asLong();
        assertThat(Stream.of(before, started, ended, LabClock.nowUs())).isSorted();
        assertThat(ended - started).isGreaterThanOrEqualTo(40_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", VIRTUAL})
    void callsInTurnAddUpAndCallsAtOnceDoNot(String port) {
        assertThat(held(get(port + "/work?ms=500&calls=3").body())).isGreaterThanOrEqualTo(1_500_000);
        assertThat(held(get(port + "/work?ms=500&calls=3&parallel=true").body())).isBetween(500_000L, 1_499_000L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", VIRTUAL})
    void computingHoldsTheThreadToo(String port) {
        assertThat(held(get(port + "/work?ms=0&cpu_ms=60").body())).isGreaterThan(20_000);
    }

    @Test
    void aBurstIsServedByThePoolInWavesAndOnVirtualThreadsByMoreAtATime() {
        assertThat(mostAtATime("/work?ms=400", 60)).isLessThanOrEqualTo(20);
        assertThat(mostAtATime(VIRTUAL + "/work?ms=400", 60)).isGreaterThan(20);
    }

    /** How many of a burst were being served at once, by their own times. */
    private long mostAtATime(String path, int requests) {
        List<CompletableFuture<Answer>> sent =
                IntStream.range(0, requests).mapToObj(i -> getLater(path)).toList();
        List<JsonNode> bodies = sent.stream().map(s -> s.join().body()).toList();
        return bodies.stream()
                .mapToLong(one -> one.get("started_us").asLong())
                .map(at -> bodies.stream().filter(other -> servedAt(other, at)).count())
                .max()
                .orElseThrow();
    }

    private static boolean servedAt(JsonNode body, long us) {
        return body.get("started_us").asLong() <= us && us < body.get("ended_us").asLong();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ms=", "ms=abc", "ms=-1", "ms=1.5", "ms=60001", "cpu_ms=x", "cpu_ms=60001", "calls=0",
        "calls=101", "calls=", "parallel=maybe", "downstream=oracle"})
    void answersABadValueWithASentence(String query) {
        Answer answer = get("/work?" + query);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.body().propertyNames()).containsExactly("error");
        assertThat(answer.body().get("error").asString()).startsWith(query.split("=")[0]).contains(" must be ").endsWith(".");
    }

    @Test
    void knowsNoOtherPath() {
        assertThat(get("/nope").status()).isEqualTo(404);
        assertThat(get("/actuator/env").status()).isEqualTo(404);
        assertThat(get("/actuator/health").body().get("status").asString()).isEqualTo("UP");
    }
}
