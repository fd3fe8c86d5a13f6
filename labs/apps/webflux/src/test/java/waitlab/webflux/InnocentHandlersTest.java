package waitlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Each innocent-looking call holds an event loop; the query needs a database and is called by the chapter's tests. */
class InnocentHandlersTest extends RunningApp {

    @ParameterizedTest
    @ValueSource(strings = {"rest-template", "lock", "synchronized"})
    void waitsOnTheLoopForAsLongAsTheOtherTakes(String call) {
        JsonNode body = get("/innocent/" + call + "?ms=400").body();
        assertThat(body.get("thread").asString()).contains("-http-");
        assertThat(body.get("ended_us").asLong() - body.get("started_us").asLong()).isGreaterThan(25_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"read-file", "log", "calculation?ms=5"})
    void worksOnTheLoop(String call) {
        JsonNode body = get("/innocent/" + call).body();
        assertThat(body.get("thread").asString()).contains("-http-");
        assertThat(body.get("ended_us").asLong()).isGreaterThan(body.get("started_us").asLong());
    }
}
