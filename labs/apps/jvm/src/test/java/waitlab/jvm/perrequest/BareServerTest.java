package waitlab.jvm.perrequest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import waitlab.jvm.Options;
import waitlab.shared.Guard;

/** The bare server in both models: which thread serves, and what a silent connection costs. */
class BareServerTest {

    private static final String TOKEN = "the-token-of-this-test";
    private static final ExecutorService CLIENTS = Executors.newVirtualThreadPerTaskExecutor();
    private static final Map<String, Map<String, Integer>> PORTS = new HashMap<>();

    @TempDir
    private static Path folder;

    @BeforeAll
    static void startBoth() throws IOException {
        Path alone = Files.writeString(folder.resolve("token"), TOKEN + "\n");
        Path told = Files.writeString(folder.resolve("app.properties"), "lab.db.port=1\nlab.token=" + TOKEN + "\n");
        start("request", Map.of("LAB_TOKEN_FILE", alone.toString()));
        start("connection", Map.of("SPRING_CONFIG_IMPORT", "file:" + told));
    }

    private static void start(String model, Map<String, String> environment) throws IOException {
        String[] args = {"server", "--pool_size", "4", "--model", model};
        PORTS.put(model, BareServer.run(Options.of(args, environment)));
    }

    @BeforeEach
    void fresh() {
        PORTS.keySet().forEach(model -> {
            assertThat(change(model, "PUT", "/settings", "{\"pool_size\": 4}")).contains("\"pool_size\":4");
            assertThat(change(model, "DELETE", "/threads/peak", "")).contains("\"workers_peak\":0");
        });
    }

    private static int port(String model, String name) {
        return PORTS.get(model).get(name);
    }

    private static String get(int port, String path) {
        try (Client client = new Client(port)) {
            return client.get(path);
        }
    }

    private static String change(String model, String method, String path, String body) {
        return change(model, method, path, body, Guard.TOKEN_HEADER + ": " + TOKEN + "\r\nHost: localhost\r\n");
    }

    private static String change(String model, String method, String path, String body, String headers) {
        try (Client client = new Client(port(model, "control_port"))) {
            String head = method + " " + path + " HTTP/1.1\r\nContent-Length: " + body.length() + "\r\n" + headers;
            return client.send(head + "\r\n" + body).answer();
        }
    }

    private static List<String> burst(int port, String path, int requests) {
        List<CompletableFuture<String>> sent = IntStream.range(0, requests)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> get(port, path), CLIENTS))
                .toList();
        return sent.stream().map(CompletableFuture::join).toList();
    }

    /** A worker is free a moment after its client has the answer, and busy a moment after its client has knocked. */
    private static void untilBusy(String model, int workers) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (field(get(port(model, "control_port"), "/settings"), "workers_busy") != workers) {
            assertThat(System.nanoTime()).as("ten seconds").isLessThan(end);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    private static int field(String answer, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":(\\d+)").matcher(answer);
        assertThat(found.find()).as(answer).isTrue();
        return Integer.parseInt(found.group(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"request", "connection"})
    void thePortDecidesWhichKindOfThreadServes(String model) {
        assertThat(get(port(model, "port"), "/work?ms=1")).contains("\"thread\":\"worker-", "\"virtual\":false");
        assertThat(get(port(model, "virtual_port"), "/work?ms=1")).contains("\"thread\":\"virtual-", "\"virtual\":true");
    }

    @ParameterizedTest
    @ValueSource(strings = {"request", "connection"})
    void aBurstIsServedInWavesByThePool(String model) {
        List<String> answers = burst(port(model, "port"), "/work?ms=300", 12);
        assertThat(answers).allMatch(answer -> answer.startsWith("HTTP/1.1 200 "));
        assertThat(answers.stream().map(a -> a.replaceAll("(?s).*\"thread\":\"([^\"]*)\".*", "$1")).distinct()).hasSize(4);
        assertThat(field(get(port(model, "control_port"), "/threads/peak"), "workers_peak")).isEqualTo(4);
    }

    @Test
    void aFreshPoolMakesOneWorkerForEachRequestAndVirtualThreadsNone() {
        change("request", "PUT", "/settings", "{\"pool_size\": 100}");
        get(port("request", "port"), "/fast");
        burst(port("request", "virtual_port"), "/work?ms=20", 30);
        assertThat(field(get(port("request", "control_port"), "/threads/peak"), "workers_peak")).isZero();
        burst(port("request", "port"), "/work?ms=1000", 30);
        String peak = get(port("request", "control_port"), "/threads/peak");
        assertThat(field(peak, "workers_peak")).isEqualTo(30);
        assertThat(field(peak, "platform_threads_peak")).isGreaterThanOrEqualTo(field(peak, "platform_threads_baseline") + 30);
    }

    @Test
    void silentConnectionsCostNoWorkerWhenAThreadServesARequest() {
        List<Client> silent = Stream.generate(() -> new Client(port("request", "port"))).limit(8).toList();
        assertThat(get(port("request", "port"), "/work?ms=1")).startsWith("HTTP/1.1 200 ");
        untilBusy("request", 0);
        silent.forEach(Client::close);
    }

    @Test
    void silentConnectionsHoldTheWorkersWhenAThreadServesAConnection() {
        List<Client> silent = Stream.generate(() -> new Client(port("connection", "port"))).limit(4).toList();
        CompletableFuture<String> late = CompletableFuture.supplyAsync(() -> get(port("connection", "port"), "/work?ms=0"), CLIENTS);
        assertThat(get(port("connection", "virtual_port"), "/work?ms=50")).startsWith("HTTP/1.1 200 ");
        untilBusy("connection", 4);
        assertThat(late).isNotDone();
        silent.getFirst().close();
        assertThat(late.join()).startsWith("HTTP/1.1 200 ");
        silent.forEach(Client::close);
    }

    @ParameterizedTest
    @ValueSource(strings = {"request", "connection"})
    void aConnectionIsKeptForFurtherRequestsAlsoOnesSentTogetherOrInPieces(String model) {
        try (Client client = new Client(port(model, "port"))) {
            assertThat(client.get("/fast")).contains("Connection: keep-alive");
            String request = "GET /work?ms=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
            client.send(request + request);
            assertThat(client.answer()).startsWith("HTTP/1.1 200 ");
            assertThat(client.answer()).startsWith("HTTP/1.1 200 ");
            client.send("GET /work?ms=1 HTT").send("P/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            assertThat(client.answer()).startsWith("HTTP/1.1 200 ");
            assertThat(client.ended()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"request", "connection"})
    void nonsenseIsAnsweredOnceAndHungUpOn(String model) {
        for (String nonsense : List.of("nonsense\r\n\r\n", "GET x HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                "x".repeat(9_000))) {
            try (Client client = new Client(port(model, "port")).send(nonsense)) {
                assertThat(client.answer()).startsWith("HTTP/1.1 400 ");
            }
        }
        assertThat(get(port(model, "port"), "/work?ms=x")).contains("ms must be a whole number");
        assertThat(get(port(model, "port"), "/work?downstream=postgres")).contains("has no database");
        assertThat(get(port(model, "port"), "/nope")).startsWith("HTTP/1.1 404 ");
        assertThat(get(port(model, "control_port"), "/work")).startsWith("HTTP/1.1 404 ");
    }

    @Test
    void isChangedOnlyWithTheTokenAndNotFromElsewhere() {
        String token = Guard.TOKEN_HEADER + ": " + TOKEN + "\r\n";
        for (String headers : List.of("Host: localhost\r\n", token + "Host: evil.example\r\n",
                token + "Host: localhost\r\nOrigin: http://evil.example\r\n")) {
            assertThat(change("request", "PUT", "/settings", "{\"pool_size\": 2}", headers)).startsWith("HTTP/1.1 403 ");
            assertThat(change("request", "DELETE", "/threads/peak", "", headers)).startsWith("HTTP/1.1 403 ");
        }
        assertThat(change("request", "PUT", "/settings", "{\"pool_size\": 0}")).startsWith("HTTP/1.1 400 ");
        assertThat(field(get(port("request", "control_port"), "/settings"), "pool_size")).isEqualTo(4);
    }
}
