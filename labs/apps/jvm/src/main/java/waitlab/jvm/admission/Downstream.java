package waitlab.jvm.admission;

/** Whoever the requests call, and wait for. */
interface Downstream extends AutoCloseable {

    /**
     * Calls it, and comes back with its answer.
     *
     * @return when it began to serve this call, in microseconds of {@link waitlab.shared.LabClock}
     * @throws Refused where it takes no more callers
     */
    long call() throws Exception;

    /** How many it serves side by side, as it says itself. */
    int capacity();

    @Override
    default void close() {}

    /** The downstream does not let a caller in. Thousands of these may be thrown at once, so they carry no trace. */
    final class Refused extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Refused() {
            super("refused", null, false, false);
        }
    }

    /** The downstream of a plan, ready to be called. */
    static Downstream of(Plan plan, java.util.function.Supplier<java.util.Properties> database) {
        return switch (plan.downstream()) {
            case "postgres" -> new Database(database.get(), plan.capacity(), plan.hold());
            case "unguarded" -> new SmallServer(plan.capacity(), plan.limit(), plan.hold());
            default -> new Valve(plan.capacity(), plan.hold());
        };
    }
}
