package waitlab.mvc.trains;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What each client does to the thread that took the request, while the API lets it wait. */
class ArrivalsHandlersTest extends RunningTrains {

    private static final int IN_FLIGHT = 8;
    private static final String MONO_BLOCK = "reactor.core.publisher.Mono.block";
    private static final String JDK_CLIENT = "org.springframework.http.client.JdkClientHttpRequest.executeInternal";

    private List<CompletableFuture<Answer>> held(String query) throws InterruptedException {
        List<CompletableFuture<Answer>> sent = IntStream.range(0, IN_FLIGHT)
                .mapToObj(i -> getLater("/arrivals?api=slow&" + query))
                .toList();
        API.holds(IN_FLIGHT);
        return sent;
    }

    private static long workersIn(String frame) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().contains("-exec-"))
                .filter(thread -> Arrays.stream(thread.getValue())
                        .anyMatch(f -> frame.equals(f.getClassName() + "." + f.getMethodName())))
                .count();
    }

    private static void answered(List<CompletableFuture<Answer>> sent) {
        API.release();
        assertThat(sent).allSatisfy(s -> assertThat(s.join().status()).isEqualTo(200));
    }

    @ParameterizedTest
    @CsvSource({
        "client=resttemplate, " + JDK_CLIENT,
        "client=restclient, " + JDK_CLIENT,
        "client=webclient-block, " + MONO_BLOCK,
        "client=resttemplate&factory=detected, " + MONO_BLOCK,
        "client=restclient&factory=detected, " + MONO_BLOCK
    })
    void aBlockingClientKeepsItsWorkerAndTheStackSaysWhoseItIs(String query, String frame) throws Exception {
        List<CompletableFuture<Answer>> sent = held(query);
        until(() -> workers.busy() == IN_FLIGHT);
        assertThat(workersIn(frame)).isEqualTo(IN_FLIGHT);
        answered(sent);
    }

    @Test
    void aReturnedMonoLetsItsWorkerGo() throws Exception {
        List<CompletableFuture<Answer>> sent = held("client=webclient-mono");
        until(() -> workers.busy() == 0);
        assertThat(workersIn(MONO_BLOCK)).isZero();
        answered(sent);
    }

    @ParameterizedTest
    @ValueSource(strings = {"resttemplate", "restclient", "webclient-block"})
    void aBlockingClientStaysOnOneThread(String client) {
        JsonNode platform = ok("/arrivals?api=ok&client=" + client);
        assertThat(platform.get("thread").asString()).contains("-exec-");
        assertThat(platform.get("continued_on")).isEqualTo(platform.get("thread"));
        JsonNode virtual = ok(VIRTUAL + "/arrivals?api=ok&client=" + client);
        assertThat(virtual.get("thread").asString()).startsWith("virtual-");
        assertThat(virtual.get("continued_on")).isEqualTo(virtual.get("thread"));
    }

    @ParameterizedTest
    @CsvSource({"'', -exec-, false", "//virtual, virtual-, true"})
    void aMonoIsCarriedOnByAnEventLoop(String port, String taker, boolean virtual) {
        JsonNode answer = ok(port + "/arrivals?api=ok&client=webclient-mono");
        assertThat(answer.get("thread").asString()).contains(taker);
        assertThat(answer.get("virtual").asBoolean()).isEqualTo(virtual);
        assertThat(answer.get("continued_on").asString()).startsWith("reactor-http-");
        assertThat(answer.get("arrivals").get(0).get("in_minutes").asInt()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"resttemplate", "restclient", "webclient-block", "webclient-mono"})
    void whatTheApiFailsIsToldAsSuch(String client) {
        Answer answer = get("/arrivals?api=fails&client=" + client);
        assertThat(answer.status()).isEqualTo(502);
        assertThat(answer.body().get("error").asString()).isEqualTo("The API failed.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "client=", "client=feign", "client=restclient&api=up", "client=restclient&api_ms=-1",
        "client=restclient&factory=apache", "client=webclient-mono&station=%2F..%2F", "client=webclient-mono&api_ms=x"})
    void answersABadValueWithASentence(String query) {
        Answer answer = get("/arrivals?" + query);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.body().get("error").asString()).contains(" must be ").endsWith(".");
    }

    @Test
    void everyLimitOfTheClientsIsTold() {
        JsonNode settings = ok("/settings");
        assertThat(settings.get("trains").asBoolean()).isTrue();
        assertThat(settings.get("http_factory").asString()).isEqualTo("JdkClientHttpRequestFactory");
        assertThat(settings.get("http_factory_detected").asString()).isEqualTo("ReactorClientHttpRequestFactory");
        assertThat(settings.get("client_read_timeout_ms").asInt()).isEqualTo(70_000);
        assertThat(settings.get("api_url").asString()).isEqualTo(API.url());
    }

    @Test
    void idleThreadsOfTheClientAreSentHomeBeforeThreadsAreCounted() throws Exception {
        answered(held("client=restclient"));
        int before = change("DELETE", "/threads/peak").body().get("platform_threads_baseline").asInt();
        answered(held("client=restclient"));
        JsonNode after = change("DELETE", "/threads/peak").body();
        assertThat(after.get("platform_threads_baseline").asInt()).isBetween(before - 4, before + 4);
    }
}
