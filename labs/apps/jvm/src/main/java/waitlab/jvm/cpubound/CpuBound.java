package waitlab.jvm.cpubound;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
 * All ways take turns in one JVM, after rounds that only warm it up. Prints a line for each way after each round.
 */
public final class CpuBound {

    private static final int WARM = 3;
    private static final int SLICES = 4;
    private static final int MOST_TASKS = 100_000;
    private static final int MOST_THREADS = 10_000;

    private CpuBound() {}

    /** The experiment {@code cpu-bound}: {@code --pool_size}, {@code --tasks}, {@code --rounds}, {@code --below}. */
    public static void run(Options options) throws Exception {
        int pool = options.whole("pool_size", 200, 1, MOST_THREADS);
        int tasks = options.whole("tasks", 2_000, 1, MOST_TASKS);
        int rounds = options.whole("rounds", 5, 1, 100);
        int below = options.whole("below", 8_000, 10, 1_000_000);
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
                round(round, ways, tasks, below);
            }
        }
    }

    /** All tasks on each way, in slices that take turns: what disturbs this machine meanwhile disturbs all alike. */
    private static void round(int round, Map<String, ExecutorService> ways, int tasks, int below) throws Exception {
        Map<String, Double> wallMs = new TreeMap<>();
        long primes = 0;
        List<String> order = new ArrayList<>(ways.keySet());
        for (int slice = 0; slice < SLICES; slice++) {
            int share = tasks * (slice + 1) / SLICES - tasks * slice / SLICES;
            Collections.rotate(order, 1);
            for (String way : order) {
                long began = System.nanoTime();
                primes += computed(ways.get(way), share, below);
                wallMs.merge(way, (System.nanoTime() - began) / 1e6, Double::sum);
            }
        }
        for (Map.Entry<String, Double> one : wallMs.entrySet()) {
            Json.print(Map.of("round", round, "way", one.getKey(), "wall_ms", one.getValue(), "primes", primes / ways.size()));
        }
    }

    private static long computed(ExecutorService threads, int tasks, int below) throws Exception {
        List<Future<Integer>> answers = new ArrayList<>(tasks);
        for (int i = 0; i < tasks; i++) {
            answers.add(threads.submit(() -> Primes.below(below)));
        }
        long primes = 0;
        for (Future<Integer> answer : answers) {
            primes += answer.get();
        }
        return primes;
    }

    private static ExecutorService pool(int size) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(size, size, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        pool.prestartAllCoreThreads();
        return pool;
    }
}
