package waitlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** When a call runs, and where: while the chain is put together, or when somebody subscribes. */
class AssemblyHandlersTest extends RunningApp {

    private Map<String, JsonNode> rows() {
        return get("/assembly").body().get("rows").valueStream()
                .collect(Collectors.toMap(row -> row.get("form").asString(), row -> row));
    }

    @Test
    void justRunsTheCallBeforeAnybodySubscribes() {
        assertThat(rows()).allSatisfy((form, row) -> assertThat(row.get("calls_before_subscribe").asInt())
                .as(form)
                .isEqualTo(form.startsWith("just") ? 1 : 0));
    }

    @Test
    void onlySubscribeOnBehindADeferredCallMovesIt() {
        assertThat(rows()).allSatisfy((form, row) -> assertThat(row.get("ran_on").asString())
                .as(form)
                .contains(form.equals("fromCallable(call).subscribeOn(offload)") ? "boundedElastic-" : "-http-"));
    }
}
