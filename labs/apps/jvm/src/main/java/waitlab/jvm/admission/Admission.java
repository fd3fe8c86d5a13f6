package waitlab.jvm.admission;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import waitlab.jvm.Json;
import waitlab.jvm.Options;
import waitlab.jvm.admission.Ledger.End;
import waitlab.shared.BadValue;
import waitlab.shared.JvmFacts;

/**
 * Many requests at once, and who lets how many of them in. Prints a first line with what is in force, then a few lines a
 * second with what was seen and which requests have ended, and a last line with the counts.
 */
public final class Admission {

    private Admission() {}

    /**
     * The experiment {@code admission}: {@code --requests}, {@code --threads fixed|virtual}, {@code --pool_size},
     * {@code --gate} (0 is none), {@code --gate_at door|inside}, {@code --on_full wait|reject},
     * {@code --downstream semaphore|postgres|unguarded}, {@code --capacity}, {@code --downstream_limit},
     * {@code --hold_ms}, {@code --payload_kb}. Where the database is stands in the file that {@code LAB_DB_FILE} names.
     */
    public static void run(Options options) throws InterruptedException {
        Plan plan = Plan.of(options);
        options.nothingElse();
        rehearse(plan.rehearsal());
        Ledger ledger = new Ledger(plan.requests());
        try (Downstream downstream = Downstream.of(plan, () -> database(options));
                Rush rush = new Rush(plan, downstream, ledger)) {
            Sampler sampler = new Sampler(rush.live(), ledger, plan.roughlyMs());
            Json.print(inForce(plan, rush, downstream));
            sampler.start();
            rush.serve();
            sampler.stop();
            Json.print(found(ledger, rush, sampler));
        }
    }

    /**
     * A small crowd that nobody counts: a server that has just started would be slow at first, whatever its threads. What
     * it leaves is collected before the run.
     */
    private static void rehearse(Plan small) throws InterruptedException {
        try (Rush rush = new Rush(small, new Valve(small.capacity(), small.hold()), new Ledger(small.requests()))) {
            rush.serve();
        }
        System.gc();
    }

    private static Map<String, Object> inForce(Plan plan, Rush rush, Downstream downstream) {
        Map<String, Object> limits = new LinkedHashMap<>();
        JvmFacts.addTo(limits);
        limits.put("threads", plan.virtual() ? "virtual" : "fixed");
        limits.put("pool_size", rush.poolSize());
        limits.put("gate", rush.gate());
        limits.put("capacity", downstream.capacity());
        return limits;
    }

    private static Map<String, Object> found(Ledger ledger, Rush rush, Sampler sampler) {
        Map<String, Object> found = new LinkedHashMap<>(sampler.alive());
        found.put("in_flight_peak", rush.live().peak());
        for (End end : End.values()) {
            found.put(end.name().toLowerCase(java.util.Locale.ROOT), ledger.count(end));
        }
        return found;
    }

    private static Properties database(Options options) {
        String file = options.variable("LAB_DB_FILE")
                .orElseThrow(() -> new BadValue("LAB_DB_FILE must name the file that says where the database is."));
        Properties read = new Properties();
        try (Reader lines = Files.newBufferedReader(Path.of(file))) {
            read.load(lines);
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
        return read;
    }
}
