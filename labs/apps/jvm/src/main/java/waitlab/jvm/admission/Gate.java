package waitlab.jvm.admission;

import java.util.concurrent.Semaphore;

/** The limit put back by hand: so many at a time may pass; whoever finds it full waits here, or is turned away. */
final class Gate {

    private final int width;
    private final boolean reject;
    private final Semaphore permits;

    private Gate(int width, boolean reject) {
        this.width = width;
        this.reject = reject;
        permits = new Semaphore(width, true);
    }

    /** A gate of that width; 0 is none. */
    static Gate of(int width, boolean reject) {
        return new Gate(width, reject);
    }

    /** No gate. */
    static Gate open() {
        return new Gate(0, false);
    }

    /** How many it lets through at a time; 0 where there is no gate. */
    int width() {
        return width;
    }

    // snippet: gate
    /** Whether the caller may pass; where it is full, the caller waits for its turn or is turned away at once. */
    boolean enter() throws InterruptedException {
        if (width == 0) {
            return true;
        }
        if (reject) {
            return permits.tryAcquire();
        }
        permits.acquire();
        return true;
    }
    // end

    void leave() {
        if (width > 0) {
            permits.release();
        }
    }
}
