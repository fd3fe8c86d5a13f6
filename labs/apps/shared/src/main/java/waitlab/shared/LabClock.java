package waitlab.shared;

/** The machine's monotonic clock, the one that the load client reads too on the same host. */
public final class LabClock {

    private LabClock() {}

    /** Microseconds since an arbitrary but fixed moment. */
    public static long nowUs() {
        return System.nanoTime() / 1_000;
    }
}
