import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server whose requests cost CPU time and nothing else, on a fixed number of threads: for what a CPU limit does.
 *
 * <p>{@code /work?ms=N} returns when its thread has used N milliseconds of CPU, however long that took.
 */
public final class CpuServer {

    private static final int BACKLOG = 4096;
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private CpuServer() {}

    public static void main(String[] arguments) throws IOException {
        int threads = Integer.parseInt(arguments[0]);
        ExecutorService workers =
                Executors.newFixedThreadPool(threads, task -> new Thread(task, "worker-" + NUMBER.incrementAndGet()));
        HttpServer server = HttpServer.create(new InetSocketAddress(8080), BACKLOG);
        server.createContext("/work", exchange -> answer(exchange, work(milliseconds(exchange))));
        server.createContext("/fast", exchange -> answer(exchange, work(0)));
        server.createContext("/settings", exchange -> answer(exchange, settings(threads)));
        server.setExecutor(workers);
        server.start();
    }

    private static String work(long ms) {
        long started = nowUs();
        long enough = CLOCK.getCurrentThreadCpuTime() + ms * 1_000_000;
        while (CLOCK.getCurrentThreadCpuTime() < enough) {
            Thread.onSpinWait();
        }
        return "{\"thread\":\"%s\",\"started_us\":%d,\"ended_us\":%d}"
                .formatted(Thread.currentThread().getName(), started, nowUs());
    }

    private static String settings(int threads) {
        return "{\"app\":\"cpu\",\"pid\":%d,\"available_processors\":%d,\"threads\":%d,\"java\":\"%s\",\"monotonic_us\":%d}"
                .formatted(
                        ProcessHandle.current().pid(),
                        Runtime.getRuntime().availableProcessors(),
                        threads,
                        Runtime.version(),
                        nowUs());
    }

    private static long nowUs() {
        return System.nanoTime() / 1_000;
    }

    /** The N of {@code ms=N}, at most a second. */
    private static long milliseconds(HttpExchange exchange) {
        String query = exchange.getRequestURI().getQuery();
        return query != null && query.matches("ms=[0-9]{1,3}") ? Long.parseLong(query.substring(3)) : 0;
    }

    private static void answer(HttpExchange exchange, String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
