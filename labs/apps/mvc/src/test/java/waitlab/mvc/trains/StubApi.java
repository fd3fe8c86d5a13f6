package waitlab.mvc.trains;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** An API that answers when the test says so: {@code api=slow} waits for {@link #release}, {@code api=fails} fails. */
final class StubApi {

    static final StubApi ONLY = new StubApi();

    private static final byte[] ARRIVALS =
            "{\"station\":\"Bern\",\"arrivals\":[{\"train\":\"IC 1\",\"to\":\"Thun\",\"platform\":1,\"in_minutes\":2}]}"
                    .getBytes(StandardCharsets.US_ASCII);

    private final HttpServer server;
    private final Semaphore arrived = new Semaphore(0);
    private volatile CountDownLatch gate = new CountDownLatch(1);

    private StubApi() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/external/arrivals", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Returns when so many slow calls are being held. */
    void holds(int calls) throws InterruptedException {
        if (!arrived.tryAcquire(calls, 10, TimeUnit.SECONDS)) {
            throw new AssertionError("The API was not asked " + calls + " times.");
        }
    }

    /** Answers the calls that are held. */
    void release() {
        CountDownLatch opened = gate;
        gate = new CountDownLatch(1);
        opened.countDown();
    }

    /** Answers the calls that are held, and forgets them. */
    void forget() {
        release();
        arrived.drainPermits();
    }

    private void answer(HttpExchange exchange) throws IOException {
        String query = String.valueOf(exchange.getRequestURI().getQuery());
        if (query.contains("api=slow")) {
            CountDownLatch closed = gate;
            arrived.release();
            try {
                closed.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(query.contains("api=fails") ? 500 : 200, ARRIVALS.length);
            exchange.getResponseBody().write(ARRIVALS);
        }
    }
}
