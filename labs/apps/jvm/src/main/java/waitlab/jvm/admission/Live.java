package waitlab.jvm.admission;

import java.util.concurrent.atomic.AtomicInteger;

/** Requests in flight: those that own a live thread, now and at most. */
final class Live {

    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();

    void enter() {
        peak.accumulateAndGet(now.incrementAndGet(), Math::max);
    }

    void leave() {
        now.decrementAndGet();
    }

    int now() {
        return now.get();
    }

    int peak() {
        return peak.get();
    }
}
