package waitlab.mvc;

import java.util.HashSet;
import java.util.Set;

/**
 * Which of the pool's own threads have worked since the last reset, and how many of them lived at once at most. A
 * worker that only answered a question about the settings is not counted, nor is any virtual thread.
 */
public class WorkerCount {

    private final Set<Thread> worked = new HashSet<>();
    private int peak;

    /** A request's work begins on this thread. */
    public void working(Thread thread) {
        if (!thread.isVirtual()) {
            add(thread);
        }
    }

    private synchronized void add(Thread thread) {
        if (worked.add(thread)) {
            worked.removeIf(other -> !other.isAlive());
            peak = Math.max(peak, worked.size());
        }
    }

    synchronized int peak() {
        return peak;
    }

    synchronized void reset() {
        worked.clear();
        peak = 0;
    }
}
