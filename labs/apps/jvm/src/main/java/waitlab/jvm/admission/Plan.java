package waitlab.jvm.admission;

import java.time.Duration;
import waitlab.jvm.Options;

/** What one run is asked for: a crowd that is there at once, who serves it, who is let in, and whom it calls. */
record Plan(
        int requests,
        boolean virtual,
        int poolSize,
        int gate,
        boolean inside,
        boolean reject,
        String downstream,
        int capacity,
        int limit,
        int holdMs,
        int payloadKb) {

    private static final int LARGEST = 100_000;
    private static final int MOST_THREADS = 10_000;
    private static final int LONGEST_MS = 10_000;
    private static final int HEAVIEST_KB = 10_000;
    private static final int FEW = 10_000;
    private static final int REHEARSED = 100;
    private static final int USUAL_REQUESTS = 20_000;

    /** Reads the options of the experiment {@code admission}. */
    static Plan of(Options options) {
        return new Plan(
                options.whole("requests", USUAL_REQUESTS, 1, LARGEST),
                options.choice("threads", "fixed", "virtual").equals("virtual"),
                options.whole("pool_size", 200, 1, MOST_THREADS),
                options.whole("gate", 0, 0, LARGEST),
                options.choice("gate_at", "door", "inside").equals("inside"),
                options.choice("on_full", "wait", "reject").equals("reject"),
                options.choice("downstream", "semaphore", "postgres", "unguarded"),
                options.whole("capacity", 50, 1, MOST_THREADS),
                options.whole("downstream_limit", 1_000, 1, LARGEST),
                options.whole("hold_ms", 20, 1, LONGEST_MS),
                options.whole("payload_kb", 0, 0, HEAVIEST_KB));
    }

    /** The same way through the door and onto threads, for a few requests that take next to nothing. */
    Plan rehearsal() {
        int threads = Math.min(poolSize, REHEARSED);
        return new Plan(FEW, virtual, threads, Math.min(gate, REHEARSED), inside, reject, downstream, 2 * REHEARSED, FEW, 0, 0);
    }

    Duration hold() {
        return Duration.ofMillis(holdMs);
    }

    /** Bytes that each request brings along. */
    int payload() {
        return payloadKb * 1_024;
    }

    /** The gate in front of the threads. */
    Gate door() {
        return inside ? Gate.open() : Gate.of(gate, reject);
    }

    /** The gate behind which a request already has its thread. */
    Gate innerDoor() {
        return inside ? Gate.of(gate, reject) : Gate.open();
    }

    /** About how long the run lasts, in ms: whole waves of as many as may be served side by side. */
    long roughlyMs() {
        long admitted = gate > 0 && reject ? Math.min(gate, requests) : requests;
        int width = Math.min(capacity, Math.min(virtual ? requests : poolSize, gate > 0 ? gate : requests));
        return (admitted + width - 1) / width * holdMs;
    }
}
