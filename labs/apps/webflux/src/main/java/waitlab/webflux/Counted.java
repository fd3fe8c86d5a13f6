package waitlab.webflux;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import reactor.core.Disposable;

/** A task of the offload pool on its way: it waits for a thread, works on it, or was cancelled while it waited. */
final class Counted implements Runnable, Disposable {

    /** How many tasks wait for a thread, and how many have one. */
    static final class Counts {

        private final AtomicInteger waiting = new AtomicInteger();
        private final AtomicInteger busy = new AtomicInteger();

        int waiting() {
            return waiting.get();
        }

        int busy() {
            return busy.get();
        }
    }

    private enum State { WAITS, WORKS, OVER }

    private final Runnable task;
    private final Counts counts;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITS);
    private Disposable scheduled = () -> {};

    Counted(Runnable task, Counts counts) {
        this.task = task;
        this.counts = counts;
        counts.waiting.incrementAndGet();
    }

    /** What the scheduler gave for it: disposing this disposes that. */
    Counted as(Disposable given) {
        scheduled = given;
        return this;
    }

    @Override
    public void run() {
        boolean waited = state.compareAndSet(State.WAITS, State.WORKS);
        if (waited) {
            counts.waiting.decrementAndGet();
        }
        counts.busy.incrementAndGet();
        try {
            task.run();
        } finally {
            counts.busy.decrementAndGet();
            state.set(State.OVER);
        }
    }

    /** It will not run: cancelled, or refused by the scheduler. */
    void leave() {
        if (state.compareAndSet(State.WAITS, State.OVER)) {
            counts.waiting.decrementAndGet();
        }
    }

    @Override
    public void dispose() {
        scheduled.dispose();
        leave();
    }

    @Override
    public boolean isDisposed() {
        return scheduled.isDisposed();
    }
}
