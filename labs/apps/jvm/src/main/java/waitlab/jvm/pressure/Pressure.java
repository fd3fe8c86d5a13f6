package waitlab.jvm.pressure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import waitlab.jvm.Json;
import waitlab.jvm.Options;
import waitlab.shared.BadValue;
import waitlab.shared.JvmFacts;

/** Runs a chain once; prints how far it is several times a second, and at its end the queues over time. */
public final class Pressure {

    private static final int FASTEST = 20_000;
    private static final int LARGEST = 1_000_000;
    private static final int LONGEST_MS = 120_000;
    private static final long EVERY_MS = 20;
    private static final Duration REHEARSAL = Duration.ofMillis(150);
    private static final int LOOKS_A_WORD = 10;

    private Pressure() {}

    /** The experiment {@code pressure}. */
    public static void run(Options options) throws InterruptedException {
        Chain.Rates rates = new Chain.Rates(
                options.whole("source_per_s", 1000, 1, FASTEST),
                options.whole("transform_per_s", 2000, 1, FASTEST),
                options.whole("sink_per_s", 500, 1, FASTEST),
                options.whole("batch", 10, 1, FASTEST),
                Duration.ofMillis(options.whole("duration_ms", 3000, 1, LONGEST_MS)));
        Control control = new Control(
                options.choice("control", "request-n", "gate", "none", "drop"),
                options.whole("request_n", 64, 1, LARGEST),
                options.whole("gate", 64, 1, LARGEST),
                options.whole("buffer", 64, 1, LARGEST));
        options.nothingElse();
        if (control.admits() < rates.batch()) {
            throw new BadValue("A gate of " + control.admits() + " never lets a batch of " + rates.batch() + " fill.");
        }
        rehearse(control.another(), rates.batch());
        try (Chain chain = new Chain(rates, control)) {
            Map<String, Object> limits = inForce(rates, control);
            Map<String, Object> found = measured(chain);
            found.put("in_force", limits);
            Json.print(found);
        }
    }

    /** A short and fast chain of the same kind that nobody counts: the first one in a JVM stands still at its start. */
    private static void rehearse(Control control, int batch) {
        try (Chain small = new Chain(new Chain.Rates(FASTEST, FASTEST, FASTEST, batch, REHEARSAL), control)) {
            small.run().block();
        }
    }

    private static Map<String, Object> measured(Chain chain) throws InterruptedException {
        List<Long> atMs = new ArrayList<>();
        List<Map<String, Long>> looks = new ArrayList<>();
        CountDownLatch over = new CountDownLatch(1);
        List<Throwable> failed = new ArrayList<>();
        long start = System.nanoTime();
        chain.run().doOnError(failed::add).doFinally(_ -> over.countDown()).subscribe(_ -> {}, _ -> {});
        do {
            atMs.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
            looks.add(chain.now());
            if (looks.size() % LOOKS_A_WORD == 1) {
                Json.print(looks.getLast());
            }
        } while (!over.await(EVERY_MS, TimeUnit.MILLISECONDS));
        if (!failed.isEmpty()) {
            throw new IllegalStateException("The chain failed.", failed.getFirst());
        }
        atMs.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        looks.add(chain.now());
        return answer(atMs, looks, TimeUnit.NANOSECONDS.toMillis(chain.producedNs() - start));
    }

    private static Map<String, Object> answer(List<Long> atMs, List<Map<String, Long>> looks, long producedMs) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("at_ms", atMs);
        looks.getFirst().keySet().forEach(name -> answer.put(name, looks.stream().map(look -> look.get(name)).toList()));
        answer.put("source_ended_ms", producedMs);
        return answer;
    }

    /** Before the first item: a gate then has all its permits. */
    private static Map<String, Object> inForce(Chain.Rates rates, Control control) {
        Map<String, Object> limits = new LinkedHashMap<>(control.inForce());
        limits.put("source_per_s", rates.source());
        limits.put("transform_per_s", rates.transform());
        limits.put("sink_per_s", rates.sink());
        limits.put("batch", rates.batch());
        JvmFacts.addTo(limits);
        return limits;
    }
}
