package waitlab.mvc.trains;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Whether a connection is kept while the API is asked, for every boundary and client; the view is closed. */
class ConnectionHeldTest extends RunningTrains {

    @ParameterizedTest
    @CsvSource({
        "transaction, resttemplate, true",
        "transaction, restclient, true",
        "transaction, webclient-block, true",
        "transaction, webclient-mono, false",
        "osiv, resttemplate, false",
        "osiv, restclient, false",
        "osiv, webclient-block, false",
        "osiv, webclient-mono, false",
        "split, resttemplate, false",
        "split, restclient, false",
        "split, webclient-block, false",
        "split, webclient-mono, false"
    })
    void duringTheCall(String boundary, String client, boolean held) throws Exception {
        askedWhileHeld(boundary, client, held);
    }

    void askedWhileHeld(String boundary, String client, boolean held) throws InterruptedException {
        ok("/user?id=7");
        CompletableFuture<Answer> sent =
                getLater("/user/arrivals?api=slow&id=7&boundary=" + boundary + "&client=" + client);
        API.holds(1);
        assertThat(pool.counts().seen().active()).isEqualTo(held ? 1 : 0);
        API.release();
        JsonNode answer = sent.join().body();
        assertThat(answer.get("connection_held_in_call").asBoolean()).isEqualTo(held);
        assertThat(answer.get("user").asString()).isEqualTo("user 7");
        assertThat(answer.get("neighbours").asInt()).isEqualTo(500);
    }

    @Test
    void aPoolThatIsHeldTurnsOthersAwayInTime() throws Exception {
        settings("{\"connection_timeout_ms\": 250}");
        change("DELETE", "/watch");
        List<CompletableFuture<Answer>> sent = IntStream.range(0, 3)
                .mapToObj(i -> getLater("/user/arrivals?api=slow&boundary=transaction&client=restclient"))
                .toList();
        API.holds(3);
        for (String path : List.of("/user?id=1", "/user/arrivals?boundary=transaction&client=webclient-mono")) {
            Answer refused = get(path);
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.body().get("error").asString()).contains("No database connection");
        }
        API.release();
        sent.forEach(CompletableFuture::join);
        JsonNode seen = ok("/watch");
        assertThat(seen.get("pool_timeouts").asInt()).isEqualTo(2);
        assertThat(seen.get("pool_active_peak").asInt()).isEqualTo(3);
        assertThat(seen.get("waited_ms_max").asInt()).isGreaterThanOrEqualTo(250);
        assertThat(seen.get("samples").get("at_us")).isNotEmpty();
        assertThat(ok("/settings").get("connection_timeout_ms").asInt()).isEqualTo(250);
    }

    @Test
    void countingStartsAnew() {
        ok("/user?id=1");
        change("DELETE", "/watch");
        ok("/user?id=2");
        JsonNode seen = ok("/watch");
        assertThat(seen.get("pool_active_peak").asInt()).isEqualTo(1);
        assertThat(seen.get("connections_used").asInt()).isEqualTo(1);
        assertThat(seen.get("pool_timeouts").asInt()).isZero();
        assertThat(send("DELETE", "/watch", "", List.of()).status()).isEqualTo(403);
    }

    @AfterEach
    void patient() {
        settings("{\"connection_timeout_ms\": 5000}");
    }
}
