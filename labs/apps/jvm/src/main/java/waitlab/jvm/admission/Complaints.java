package waitlab.jvm.admission;

import java.util.concurrent.atomic.AtomicBoolean;

/** What went wrong with a request that should not have: told once, since thousands may fail alike. */
final class Complaints {

    private static final AtomicBoolean TOLD = new AtomicBoolean();

    private Complaints() {}

    static void about(Exception broken) {
        if (TOLD.compareAndSet(false, true)) {
            System.err.println("A request failed: " + broken);
        }
    }
}
