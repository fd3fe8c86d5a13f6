package waitlab.jvm.loops;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import waitlab.jvm.Options;
import waitlab.shared.LabClock;

/**
 * A crowd of requests that are all there at the start, and the loops that serve it. A loop is a thread with a queue; it
 * takes the next request when it is done with the one before, and nobody else looks into its queue meanwhile.
 */
final class Crowd {

    private static final int LARGEST = 50_000;
    private static final int MOST_THREADS = 1_000;
    private static final int LONGEST_MS = 10_000;
    private static final int LONGEST_US = 100_000;
    private static final int WARM = 40;
    private static final int GAUGED = 60;

    private final String where;
    private final int loops;
    private final int pool;
    private final Hold normal;
    private final Hold block;
    private final List<Queue<Request>> queues;
    private final CountDownLatch open;
    private final Queue<Served> served = new ConcurrentLinkedQueue<>();

    /** Reads where, assignment, hold, loops, requests, blocking, offload_pool_size, block_ms, normal_us and seed. */
    Crowd(Options options) {
        where = options.choice("where", "none", "onloop", "offload");
        loops = options.whole("loops", 8, 1, MOST_THREADS);
        pool = options.whole("offload_pool_size", 64, 1, MOST_THREADS);
        int requests = options.whole("requests", 2_000, 1, LARGEST);
        int blocking = options.whole("blocking", 20, 0, requests);
        int seed = options.whole("seed", 1, 0, Integer.MAX_VALUE);
        normal = Hold.working(
                options.choice("hold", "park", "spin"),
                Duration.ofNanos(1_000L * options.whole("normal_us", 200, 1, LONGEST_US)));
        block = Hold.blocked(Duration.ofMillis(options.whole("block_ms", 100, 1, LONGEST_MS)));
        queues = Dealer.deal(options.choice("assignment", "random", "shared", "pinned"), loops, requests, blocking, seed);
        open = new CountDownLatch(requests);
    }

    /** How long a normal request holds its loop here, in microseconds: the mean over all loops, side by side. */
    double gauge() throws InterruptedException {
        Queue<Served> gauged = new ConcurrentLinkedQueue<>();
        ofAllLoops(loop -> {
            for (int i = 0; i < WARM + GAUGED; i++) {
                Served one = Served.here(new Request(i, false), normal);
                if (i >= WARM) {
                    gauged.add(one);
                }
            }
        });
        return gauged.stream().mapToLong(one -> one.endedUs() - one.startedUs()).average().orElseThrow();
    }

    /** Serves the crowd; answers when the start was, in microseconds of {@link LabClock}. */
    long serve() throws InterruptedException {
        ThreadPoolExecutor offload = new ThreadPoolExecutor(
                pool, pool, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), named("offload-"));
        try {
            if (where.equals("offload")) {
                offload.prestartAllCoreThreads();
            }
            long start = ofAllLoops(loop -> loop(queues.get(loop), offload));
            open.await();
            return start;
        } finally {
            offload.shutdown();
        }
    }

    /** What is in force: how many loops, and how many threads blocks are moved to. */
    Map<String, Object> limits() {
        return Map.of("loops", loops, "offload_pool_size", pool);
    }

    List<Served> served() {
        return new ArrayList<>(served);
    }

    // snippet: loop
    private void loop(Queue<Request> queue, ExecutorService offload) {
        for (Request next = queue.poll(); next != null; next = queue.poll()) {
            handle(next, offload);
        }
    }
    // end

    // snippet: handle
    private void handle(Request request, ExecutorService offload) {
        if (!request.blocking() || where.equals("none")) {
            answer(request, normal);
        } else if (where.equals("onloop")) {
            answer(request, block);
        } else {
            offload.execute(() -> answer(request, block));
        }
    }
    // end

    private void answer(Request request, Hold hold) {
        served.add(Served.here(request, hold));
        open.countDown();
    }

    /** What one loop does; loops are counted from 0. */
    @FunctionalInterface
    private interface LoopWork {
        void on(int loop);
    }

    /** Runs the work on as many threads as there are loops, which all set out at once; answers when that was. */
    private long ofAllLoops(LoopWork work) throws InterruptedException {
        CountDownLatch ready = new CountDownLatch(loops);
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        ThreadFactory factory = named("loop-");
        for (int i = 0; i < loops; i++) {
            int loop = i;
            threads.add(factory.newThread(() -> {
                ready.countDown();
                awaited(go);
                work.on(loop);
            }));
        }
        threads.forEach(Thread::start);
        ready.await();
        long start = LabClock.nowUs();
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        return start;
    }

    private static void awaited(CountDownLatch go) {
        try {
            go.await();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException("A loop was interrupted before it set out.", stopped);
        }
    }

    private static ThreadFactory named(String prefix) {
        return Thread.ofPlatform().daemon().name(prefix, 1).factory();
    }
}
