package waitlab.webflux;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingMethod;

/** What BlockHound saw: blocking calls on threads that must not block, noted instead of thrown. */
final class BlockingReports {

    private static final int MOST = 1_000;
    private static final Map<Sighting, AtomicInteger> SIGHTINGS = new ConcurrentHashMap<>();
    private static final ThreadLocal<String> ENDPOINT = new ThreadLocal<>();
    private static volatile boolean installed;

    private record Sighting(String method, String thread, String endpoint) {}

    /** One blocking method on one thread; the endpoint is null where the thread served none at that moment. */
    record Report(String method, String thread, String endpoint, int count) {}

    private BlockingReports() {}

    /**
     * Rewrites the JDK's blocking methods; needs the two flags that allow it on a current JDK. Reading a class from a
     * jar and seeding random numbers happen once in a JVM's life, and are not what a handler waits for: not noted.
     */
    static void install() {
        BlockHound.install(builder -> builder
                .allowBlockingCallsInside("jdk.internal.loader.BuiltinClassLoader", "loadClass")
                .allowBlockingCallsInside("java.security.SecureRandom", "nextBytes")
                .blockingMethodCallback(BlockingReports::note));
        installed = true;
    }

    static boolean installed() {
        return installed;
    }

    static List<Report> seen() {
        List<Report> reports = new ArrayList<>();
        SIGHTINGS.forEach((seen, count) ->
                reports.add(new Report(seen.method(), seen.thread(), seen.endpoint(), count.get())));
        return reports;
    }

    static void forget() {
        SIGHTINGS.clear();
    }

    /** Runs the part of a request that happens at once on this thread, so that a report can name the endpoint. */
    static void during(String endpoint, Runnable part) {
        ENDPOINT.set(endpoint);
        try {
            part.run();
        } finally {
            ENDPOINT.remove();
        }
    }

    private static void note(BlockingMethod method) {
        Sighting seen = new Sighting(
                method.getClassName() + "." + method.getName(), Thread.currentThread().getName(), ENDPOINT.get());
        if (SIGHTINGS.size() < MOST) {
            SIGHTINGS.computeIfAbsent(seen, _ -> new AtomicInteger()).incrementAndGet();
        }
    }
}
