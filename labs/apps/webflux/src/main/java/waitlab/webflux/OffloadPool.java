package waitlab.webflux;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The threads for offloaded blocking calls: Reactor's shared boundedElastic until another size is asked for, then a
 * pool of that size. Work that was accepted before a change still runs to its end on the threads it was given to.
 */
class OffloadPool implements Scheduler {

    /** The largest size that is accepted. */
    static final int LARGEST = 2_000;

    private static final int THREAD_LIVES_S = 60;

    /** Whoever looked up the old threads just before a change has given them its task by then. */
    private static final Duration STILL_USED = Duration.ofSeconds(1);

    private record Threads(Scheduler scheduler, int size, String name) {}

    private final Counted.Counts counts = new Counted.Counts();
    private volatile Threads threads = new Threads(Schedulers.boundedElastic(), usualSize(), "boundedElastic");

    /** Ten threads a processor, which is Reactor's choice. */
    static int usualSize() {
        return Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE;
    }

    int size() {
        return threads.size();
    }

    String name() {
        return threads.name();
    }

    /** Tasks that a thread works on at this moment. */
    int busy() {
        return counts.busy();
    }

    /** Tasks that no thread has taken yet. */
    int waiting() {
        return counts.waiting();
    }

    /** Sends new work to {@code size} threads from now on. */
    synchronized void resize(int size) {
        if (size == threads.size()) {
            return;
        }
        Threads before = threads;
        threads = size == usualSize()
                ? new Threads(Schedulers.boundedElastic(), size, "boundedElastic")
                : new Threads(ofSize(size), size, "offload");
        if (before.scheduler() != Schedulers.boundedElastic()) {
            Mono.delay(STILL_USED).then(Mono.defer(before.scheduler()::disposeGracefully)).subscribe();
        }
    }

    private static Scheduler ofSize(int size) {
        AtomicInteger count = new AtomicInteger();
        return Schedulers.newBoundedElastic(
                size, Schedulers.DEFAULT_BOUNDED_ELASTIC_QUEUESIZE, task -> daemon(task, count), THREAD_LIVES_S);
    }

    private static Thread daemon(Runnable task, AtomicInteger count) {
        Thread thread = new Thread(task, "offload-" + count.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public Disposable schedule(Runnable task) {
        return counted(task, one -> onCurrent(scheduler -> scheduler.schedule(one)));
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return onCurrent(scheduler -> scheduler.schedule(task, delay, unit));
    }

    @Override
    public Worker createWorker() {
        Worker worker = onCurrent(Scheduler::createWorker);
        return new Worker() {
            @Override
            public Disposable schedule(Runnable task) {
                return counted(task, worker::schedule);
            }

            @Override
            public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
                return worker.schedule(task, delay, unit);
            }

            @Override
            public void dispose() {
                worker.dispose();
            }

            @Override
            public boolean isDisposed() {
                return worker.isDisposed();
            }
        };
    }

    /** Hands a task over, counted from now until it has run or has been cancelled. */
    private Disposable counted(Runnable task, Function<Runnable, Disposable> handOver) {
        Counted one = new Counted(task, counts);
        try {
            return one.as(handOver.apply(one));
        } catch (RejectedExecutionException refused) {
            one.leave();
            throw refused;
        }
    }

    /** A pool may be replaced between our look at it and its use; then the new one takes the work. */
    private <T> T onCurrent(Function<Scheduler, T> use) {
        Scheduler seen = threads.scheduler();
        try {
            return use.apply(seen);
        } catch (RejectedExecutionException refused) {
            if (seen == threads.scheduler()) {
                throw refused;
            }
            return use.apply(threads.scheduler());
        }
    }
}
