package waitlab.jvm.admission;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import waitlab.shared.LabClock;

/** A downstream with a valve of its own, as a pool of connections is: so many at a time, first come, first served. */
final class Valve implements Downstream {

    private final int capacity;
    private final Semaphore permits;
    private final Duration hold;

    Valve(int capacity, Duration hold) {
        this.capacity = capacity;
        this.hold = hold;
        permits = new Semaphore(capacity, true);
    }

    // snippet: valve
    @Override
    public long call() throws InterruptedException {
        permits.acquire();
        try {
            long began = LabClock.nowUs();
            Thread.sleep(hold);
            return began;
        } finally {
            permits.release();
        }
    }
    // end

    @Override
    public int capacity() {
        return capacity;
    }
}
