package waitlab.jvm.admission;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import waitlab.shared.LabClock;

/**
 * A small server without a valve: whoever knocks is taken on at once, and all who are in share what it can do.
 *
 * <p>With n callers in and room for c, each takes hold x (n / c) x (1 + 0.1 (n / c - 1)), and never less than hold. The
 * first factor is the sharing: c callers' worth of work are done at a time. The second is the friction of a crowd
 * (switching, caches, locks, memory), as in the universal scalability law: at ten times its capacity it does little more
 * than half of its work. A caller's time is set when it comes in. Above {@code limit} callers its memory is full, and it
 * refuses. This is a model in this JVM, and no server on a network: it fails the same way each time, and its refusals are
 * counted one by one.
 */
final class SmallServer implements Downstream {

    /** How much each further capacity's worth of callers slows all of them down. */
    static final double FRICTION = 0.1;

    private final int capacity;
    private final int limit;
    private final Duration hold;
    private final Semaphore room;

    SmallServer(int capacity, int limit, Duration hold) {
        this.capacity = capacity;
        this.limit = limit;
        this.hold = hold;
        room = new Semaphore(limit);
    }

    // snippet: unguarded
    @Override
    public long call() throws InterruptedException {
        if (!room.tryAcquire()) {
            throw new Refused();
        }
        try {
            long began = LabClock.nowUs();
            Thread.sleep(among(limit - room.availablePermits()));
            return began;
        } finally {
            room.release();
        }
    }
    // end

    @Override
    public int capacity() {
        return capacity;
    }

    /** How long a call takes that is one of so many. */
    Duration among(int callers) {
        double crowded = Math.max(1.0, (double) callers / capacity);
        return Duration.ofNanos(Math.round(hold.toNanos() * crowded * (1 + FRICTION * (crowded - 1))));
    }
}
