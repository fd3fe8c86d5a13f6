package waitlab.mvc.trains;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The breaker's states, and what the user sees in each. */
class BoardHandlersTest extends RunningTrains {

    private static final int WINDOW = 4;

    private void protectAnew(String rules) {
        Answer answer = change("PUT", "/breaker?window=" + WINDOW + "&" + rules);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body().get("calls").asInt()).isZero();
    }

    private static List<String> states(JsonNode breaker) {
        return breaker.get("states").valueStream().map(s -> s.get("state").asString()).toList();
    }

    /** After one call that succeeded, a window is full of failures with these. */
    private void failUntilOpen() {
        for (int i = 1; i < WINDOW; i++) {
            get("/board?api=fails");
        }
    }

    /** Asks until a call is let through: the first one after the wait is a probe. */
    private JsonNode probe(String api) {
        AtomicReference<JsonNode> answer = new AtomicReference<>();
        until(() -> {
            answer.set(ok("/board?api=" + api));
            return !answer.get().get("refused").asBoolean();
        });
        return answer.get();
    }

    @Test
    void opensAfterAWindowOfFailuresAndServesWhatItHas() {
        protectAnew("wait_open_ms=60000&empty_cache=true");
        assertThat(ok("/board?api=ok").get("source").asString()).isEqualTo("fresh");
        failUntilOpen();
        ok("/board?api=fails");
        JsonNode seen = ok("/board?api=ok");
        assertThat(seen.get("source").asString()).isEqualTo("stale");
        assertThat(seen.get("refused").asBoolean()).isTrue();
        assertThat(seen.get("breaker").asString()).isEqualTo("open");
        assertThat(seen.get("age_ms").asDouble()).isPositive();
        JsonNode told = ok("/breaker");
        assertThat(states(told)).containsExactly("closed", "open");
        assertThat(told.get("refused_by_breaker").asInt()).isEqualTo(2);
        assertThat(told.get("stale_served").asInt()).isEqualTo(WINDOW + 1);
        assertThat(told.get("calls").asInt()).isEqualTo(WINDOW);
        assertThat(told.get("answers").get("started_us")).hasSize(WINDOW + 2);
    }

    @Test
    void closesAgainAfterProbesThatSucceed() {
        protectAnew("wait_open_ms=10&probes=2");
        ok("/board?api=ok");
        failUntilOpen();
        assertThat(probe("ok").get("source").asString()).isEqualTo("fresh");
        ok("/board?api=ok");
        assertThat(states(ok("/breaker"))).containsExactly("closed", "open", "half-open", "closed");
    }

    @Test
    void opensAgainAfterProbesThatFail() {
        protectAnew("wait_open_ms=10&probes=1");
        ok("/board?api=ok");
        failUntilOpen();
        assertThat(probe("fails").get("source").asString()).isEqualTo("stale");
        assertThat(states(ok("/breaker"))).startsWith("closed", "open", "half-open", "open");
    }

    @Test
    void showsTheFailureWhereThereIsNothingOld() {
        protectAnew("wait_open_ms=60000&stale_cache=off");
        ok("/board?api=ok");
        for (int i = 1; i < WINDOW; i++) {
            assertThat(get("/board?api=fails").status()).isEqualTo(502);
        }
        assertThat(get("/board?api=ok").status()).isEqualTo(503);
        assertThat(ok("/breaker").get("answers").get("source").get(WINDOW).asString()).isEqualTo("none");
    }

    @Test
    void withoutTheBreakerEveryRequestWaitsForTheTimeOut() {
        protectAnew("empty_cache=true");
        ok("/board?api=ok");
        protectAnew("breaker=off&timeout_ms=50");
        for (int i = 0; i < 2 * WINDOW; i++) {
            JsonNode seen = ok("/board?api=slow");
            assertThat(seen.get("source").asString()).isEqualTo("stale");
            assertThat(seen.get("breaker").asString()).isEqualTo("off");
            assertThat(seen.get("ended_us").asLong() - seen.get("started_us").asLong()).isGreaterThanOrEqualTo(50_000);
        }
        JsonNode told = ok("/breaker");
        assertThat(told.get("timeouts").asInt()).isEqualTo(2 * WINDOW);
        assertThat(told.get("refused_by_breaker").asInt()).isZero();
        assertThat(told.get("states")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"breaker=maybe", "stale_cache=1", "timeout_ms=0", "timeout_ms=60001", "wait_open_ms=x",
        "probes=0", "probes=1001", "empty_cache=yes"})
    void refusesABadRuleAndKeepsTheOld(String rule) {
        protectAnew("timeout_ms=777");
        assertThat(change("PUT", "/breaker?" + rule).status()).isEqualTo(400);
        assertThat(ok("/breaker").get("timeout_ms").asInt()).isEqualTo(777);
        assertThat(send("PUT", "/breaker?timeout_ms=5", "", List.of()).status()).isEqualTo(403);
    }
}
