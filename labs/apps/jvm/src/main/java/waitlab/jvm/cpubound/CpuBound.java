package waitlab.jvm.cpubound;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import waitlab.jvm.Json;
import waitlab.jvm.Options;
import waitlab.shared.JvmFacts;

/**
 * Work that waits for nothing, given to as many threads as there are cores, to a larger pool, and to a virtual thread each.
 * All ways take turns in one JVM, after rounds that only warm it up. Prints a line for each way in each round.
 */
public final class CpuBound {

    private static final int WARM = 3;
    private static final int MOST_TASKS = 100_000;
    private static final int MOST_THREADS = 10_000;

    private CpuBound() {}

    /** The experiment {@code cpu-bound}: {@code --pool_size}, {@code --tasks}, {@code --rounds}, {@code --below}. */
    public static void run(Options options) throws Exception {
        int pool = options.whole("pool_size", 200, 1, MOST_THREADS);
        int tasks = options.whole("tasks", 2_000, 1, MOST_TASKS);
        int rounds = options.whole("rounds", 5, 1, 100);
        int below = options.whole("below", 5_000, 10, 1_000_000);
        options.nothingElse();
        Map<String, Object> told = new LinkedHashMap<>();
        JvmFacts.addTo(told);
        told.put("pool_size", pool);
        told.put("warm", WARM);
        Json.print(told);
        int cores = Runtime.getRuntime().availableProcessors();
        try (ExecutorService few = pool(cores);
                ExecutorService many = pool(pool);
                ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
            Map<String, ExecutorService> ways = new LinkedHashMap<>();
            ways.put("cores", few);
            ways.put("fixed", many);
            ways.put("virtual", virtual);
            for (int round = 1 - WARM; round <= rounds; round++) {
                for (String way : turned(List.copyOf(ways.keySet()), round)) {
                    Json.print(timed(round, way, ways.get(way), tasks, below));
                }
            }
        }
    }

    /** The ways in another order each round, so that none always comes first. */
    private static List<String> turned(List<String> ways, int round) {
        List<String> turned = new ArrayList<>(ways);
        java.util.Collections.rotate(turned, round);
        return turned;
    }

    private static Map<String, Object> timed(int round, String way, ExecutorService threads, int tasks, int below)
            throws Exception {
        List<Future<Integer>> answers = new ArrayList<>(tasks);
        long began = System.nanoTime();
        for (int i = 0; i < tasks; i++) {
            answers.add(threads.submit(() -> Primes.below(below)));
        }
        long primes = 0;
        for (Future<Integer> answer : answers) {
            primes += answer.get();
        }
        double wallMs = (System.nanoTime() - began) / 1e6;
        return Map.of("round", round, "way", way, "wall_ms", wallMs, "primes", primes);
    }

    private static ExecutorService pool(int size) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(size, size, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        pool.prestartAllCoreThreads();
        return pool;
    }
}
