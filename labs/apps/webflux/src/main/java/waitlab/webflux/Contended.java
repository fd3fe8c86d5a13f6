package waitlab.webflux;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import waitlab.shared.Waits;

/** Things that only one thread may have at a time, and a second thread that has them just now. */
final class Contended {

    private final Object monitor = new Object();
    private final Lock lock = new ReentrantLock();

    /** The monitor, of which another thread has taken hold and does not let go for this time. */
    Object monitorHeldFor(Duration time) {
        heldBy(taken -> {
            synchronized (monitor) {
                taken.run();
                Waits.sleep(time);
            }
        });
        return monitor;
    }

    /** The same for a lock of java.util.concurrent. */
    Lock lockHeldFor(Duration time) {
        heldBy(taken -> {
            lock.lock();
            try {
                taken.run();
                Waits.sleep(time);
            } finally {
                lock.unlock();
            }
        });
        return lock;
    }

    @FunctionalInterface
    private interface Holder {
        void hold(Runnable taken);
    }

    /**
     * Comes back when the holder has taken hold. It looks again and again, without {@link Thread#onSpinWait}: a proper
     * wait would be one more blocking call on the loop, and BlockHound reports even that hint.
     */
    private static void heldBy(Holder holder) {
        AtomicBoolean taken = new AtomicBoolean();
        Thread.ofPlatform().daemon().name("holder").start(() -> holder.hold(() -> taken.set(true)));
        while (!taken.get()) {}
    }
}
