package waitlab.jvm.loops;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import waitlab.shared.Burn;
import waitlab.shared.Waits;

/** How a request holds the thread that serves it. */
@FunctionalInterface
interface Hold {

    /** Comes back when the thread may go on. */
    void on();

    /**
     * A piece of work that needs {@code time} of its thread. Parked, it costs no processor, so that any number of loops
     * can work side by side; spinning, it burns that much, and needs a core for each loop.
     */
    static Hold working(String kind, Duration time) {
        return kind.equals("spin") ? () -> Burn.processor(time) : () -> parked(time);
    }

    /** A call that waits for somebody else, as a query through JDBC does. */
    static Hold blocked(Duration time) {
        return () -> Waits.sleep(time);
    }

    private static void parked(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
