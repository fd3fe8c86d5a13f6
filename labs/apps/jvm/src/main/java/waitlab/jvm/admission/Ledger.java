package waitlab.jvm.admission;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import waitlab.shared.LabClock;

/**
 * What became of each request, in plain arrays, so that keeping it weighs little beside what is measured. Times are
 * microseconds since the start. Any number of threads write, each a request of its own; one thread reads what is new.
 */
final class Ledger {

    /** How a request can end. */
    enum End { OK, REJECTED, REFUSED, FAILED }

    private static final int NOBODY = -1;

    private final int[] began;
    private final int[] ended;
    private final int[] thread;
    private final End[] how;
    private final AtomicIntegerArray order;
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicIntegerArray counts = new AtomicIntegerArray(End.values().length);
    private final CountDownLatch open;
    private volatile long startUs;
    private int read;

    Ledger(int requests) {
        began = new int[requests];
        ended = new int[requests];
        thread = new int[requests];
        how = new End[requests];
        order = new AtomicIntegerArray(requests);
        for (int i = 0; i < requests; i++) {
            order.setPlain(i, NOBODY);
        }
        open = new CountDownLatch(requests);
    }

    /** The crowd is there. */
    void start() {
        startUs = LabClock.nowUs();
    }

    /** When that was, on the lab's clock. */
    long startUs() {
        return startUs;
    }

    /** Microseconds since the start. */
    int nowUs() {
        return (int) (LabClock.nowUs() - startUs);
    }

    /** One request ends here. {@code beganUs} is when the downstream began with it, on the lab's clock; else 0. */
    void end(int index, End end, long beganUs, int onThread) {
        ended[index] = nowUs();
        began[index] = beganUs == 0 ? NOBODY : (int) (beganUs - startUs);
        thread[index] = onThread;
        how[index] = end;
        counts.incrementAndGet(end.ordinal());
        order.setRelease(done.getAndIncrement(), index);
        open.countDown();
    }

    void awaitAll() throws InterruptedException {
        open.await();
    }

    int count(End end) {
        return counts.get(end.ordinal());
    }

    /** What has ended since the last call, five numbers a request: index, how, thread, began, ended. */
    String news() {
        StringBuilder told = new StringBuilder("[");
        while (read < order.length() && order.getAcquire(read) != NOBODY) {
            int index = order.getPlain(read++);
            told.append(told.length() > 1 ? "," : "").append(index).append(',').append(how[index].ordinal()).append(',')
                    .append(thread[index]).append(',').append(began[index]).append(',').append(ended[index]);
        }
        return told.append(']').toString();
    }
}
