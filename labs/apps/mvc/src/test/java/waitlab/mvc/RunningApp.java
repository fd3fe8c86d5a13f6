package waitlab.mvc;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Import;
import org.springframework.beans.factory.annotation.Autowired;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The real server on a real port, with a stand-in for the database; all tests share one. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = {"lab.token=" + RunningApp.TOKEN, "lab.mvc.pool-size=" + RunningApp.POOL_SIZE})
@Import(StubDatabase.class)
public abstract class RunningApp {

    protected static final String TOKEN = "the-token-of-this-test";
    protected static final int POOL_SIZE = 20;

    /** Before a path: asks the port with virtual threads. */
    protected static final String VIRTUAL = "//virtual";

    static {
        System.setProperty("jdk.httpclient.allowRestrictedHeaders", "host");
    }

    /** On virtual threads, so that the client's own are in no count of this JVM's threads. */
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .executor(Executors.newVirtualThreadPerTaskExecutor())
            .build();
    private static final JsonMapper JSON = JsonMapper.shared();

    /** A status, and JSON. */
    public record Answer(int status, JsonNode body) {}

    @Autowired
    private Connectors connectors;

    protected Answer get(String path) {
        return sendLater(request(path).GET().build()).join();
    }

    protected CompletableFuture<Answer> getLater(String path) {
        return sendLater(request(path).GET().build());
    }

    /** A change with these headers (name, value, name, value...). */
    protected Answer send(String method, String path, String body, List<String> headers) {
        HttpRequest.Builder request = request(path)
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (!headers.isEmpty()) {
            request.headers(headers.toArray(String[]::new));
        }
        return sendLater(request.build()).join();
    }

    private HttpRequest.Builder request(String path) {
        int port = path.startsWith(VIRTUAL) ? connectors.virtualPort() : connectors.platformPort();
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path.replace(VIRTUAL, "")))
                .version(HttpClient.Version.HTTP_1_1)
                .timeout(Duration.ofSeconds(10));
    }

    private static CompletableFuture<Answer> sendLater(HttpRequest request) {
        return CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .thenApply(answer -> new Answer(answer.statusCode(), JSON.readTree(answer.body())));
    }
}
