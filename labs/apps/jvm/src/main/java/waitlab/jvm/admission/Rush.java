package waitlab.jvm.admission;

import java.lang.ref.Reference;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import waitlab.jvm.admission.Ledger.End;

/**
 * A crowd of requests that are all there at the start. One submitter hands them over in their order; each needs a thread
 * of its own, and waits on it for the downstream.
 */
final class Rush implements AutoCloseable {

    static final int VIRTUAL = 0;
    private static final String POOL = "pool-";

    private final Plan plan;
    private final Downstream downstream;
    private final Ledger ledger;
    private final Live live = new Live();
    private final Gate door;
    private final Gate innerDoor;
    private final ExecutorService threads;

    Rush(Plan plan, Downstream downstream, Ledger ledger) {
        this.plan = plan;
        this.downstream = downstream;
        this.ledger = ledger;
        door = plan.door();
        innerDoor = plan.innerDoor();
        threads = plan.virtual() ? Executors.newVirtualThreadPerTaskExecutor() : pool(plan.poolSize());
    }

    // snippet: submit
    /** Hands the whole crowd over; comes back when each of them has been dealt with. */
    void serve() throws InterruptedException {
        for (int i = 0; i < plan.requests(); i++) {
            if (door.enter()) {
                submit(i, new byte[plan.payload()]);
            } else {
                ledger.end(i, End.REJECTED, 0, VIRTUAL);
            }
        }
        ledger.awaitAll();
    }
    // end

    Live live() {
        return live;
    }

    /** Threads of the pool; 0 where each request gets a virtual one. */
    int poolSize() {
        return threads instanceof ThreadPoolExecutor pool ? pool.getMaximumPoolSize() : 0;
    }

    /** The gate's width, wherever it stands. */
    int gate() {
        return Math.max(door.width(), innerDoor.width());
    }

    @Override
    public void close() {
        threads.shutdown();
    }

    private void submit(int index, byte[] payload) {
        threads.execute(() -> {
            live.enter();
            handle(index);
            Reference.reachabilityFence(payload);
            live.leave();
            door.leave();
        });
    }

    private void handle(int index) {
        long began = 0;
        End end = End.FAILED;
        try {
            if (innerDoor.enter()) {
                try {
                    began = downstream.call();
                    end = End.OK;
                } finally {
                    innerDoor.leave();
                }
            } else {
                end = End.REJECTED;
            }
        } catch (Downstream.Refused refused) {
            end = End.REFUSED;
        } catch (Exception broken) {
            Complaints.about(broken);
        }
        ledger.end(index, end, began, number());
    }

    private static int number() {
        Thread thread = Thread.currentThread();
        return thread.isVirtual() ? VIRTUAL : Integer.parseInt(thread.getName().substring(POOL.length()));
    }

    /** A pool whose queue takes any number; its threads are there before the crowd. */
    private static ExecutorService pool(int size) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                size, size, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>(),
                Thread.ofPlatform().daemon().name(POOL, 1).factory());
        pool.prestartAllCoreThreads();
        return pool;
    }
}
