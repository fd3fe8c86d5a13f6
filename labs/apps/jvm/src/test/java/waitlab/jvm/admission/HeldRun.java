package waitlab.jvm.admission;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import waitlab.jvm.Options;
import waitlab.jvm.admission.Ledger.End;
import waitlab.shared.LabClock;

/** A run whose downstream holds all who call it. */
final class HeldRun {

    static final int MANY = 3_000;
    private static final long LOOK_AGAIN_NS = 100_000;

    final Ledger ledger = new Ledger(MANY);
    final Door downstream = new Door();
    final Rush rush;
    private final Thread submitter;

    HeldRun(String... options) {
        String[] all = IntStream.range(0, options.length + 3)
                .mapToObj(i -> i < 3 ? List.of("admission", "--requests", "" + MANY).get(i) : options[i - 3])
                .toArray(String[]::new);
        rush = new Rush(Plan.of(Options.of(all, Map.of())), downstream, ledger);
        ledger.start();
        submitter = Thread.ofPlatform().start(() -> {
            try {
                rush.serve();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Waits until so many own a live thread. */
    void until(int live) {
        until(() -> rush.live().now() >= live);
    }

    void untilRejected(int rejected) {
        until(() -> ledger.count(End.REJECTED) >= rejected);
    }

    /** Waits until so many have come through to the downstream. */
    void untilCalled(int calls) {
        until(() -> downstream.called.get() >= calls);
    }

    void letGo() throws InterruptedException {
        downstream.open.countDown();
        submitter.join();
        rush.close();
    }

    private static void until(BooleanSupplier holds) {
        while (!holds.getAsBoolean()) {
            LockSupport.parkNanos(LOOK_AGAIN_NS);
        }
    }

    /** A downstream that answers nobody before it is opened. */
    static final class Door implements Downstream {

        final CountDownLatch open = new CountDownLatch(1);
        final AtomicInteger called = new AtomicInteger();

        @Override
        public long call() throws InterruptedException {
            called.incrementAndGet();
            open.await();
            return LabClock.nowUs();
        }

        @Override
        public int capacity() {
            return MANY;
        }
    }
}
