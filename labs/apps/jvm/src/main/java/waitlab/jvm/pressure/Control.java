package waitlab.jvm.pressure;

import java.util.Map;
import java.util.concurrent.Semaphore;
import reactor.core.publisher.BufferOverflowStrategy;
import reactor.core.publisher.Flux;
import waitlab.jvm.pressure.Counts.Step;

/**
 * What keeps a fast source from a slow sink.
 *
 * <ul>
 *   <li>none: everybody asks for everything, and queues have no bound
 *   <li>gate: a permit for every item between door and sink; the source waits for one, the stages know nothing of it
 *   <li>request-n: every stage asks the one before it for n items, and for more when it has worked most of them off
 *   <li>drop: the source cannot be slowed; a buffer at the door takes what the stages did not ask for, and drops the rest
 * </ul>
 */
final class Control {

    private static final int EVERYTHING = Integer.MAX_VALUE;

    private final String kind;
    private final int n;
    private final int gate;
    private final int buffer;
    private final Semaphore permits;

    Control(String kind, int n, int gate, int buffer) {
        this.kind = kind;
        this.n = n;
        this.gate = gate;
        this.buffer = buffer;
        permits = new Semaphore(kind.equals("gate") ? gate : EVERYTHING);
    }

    /** One more of the same kind, with all its permits. */
    Control another() {
        return new Control(kind, n, gate, buffer);
    }

    /** How many items may be inside at once. */
    int admits() {
        return permits.availablePermits();
    }

    /** What this control enforces, by the names it was asked with; what does not apply is left out. */
    Map<String, Object> inForce() {
        return switch (kind) {
            case "gate" -> Map.of("control", kind, "gate", admits());
            case "request-n" -> Map.of("control", kind, "request_n", asksFor());
            case "drop" -> Map.of("control", kind, "request_n", asksFor(), "buffer", buffer);
            default -> Map.of("control", kind);
        };
    }

    /** How many items a stage asks for at a time. */
    int asksFor() {
        return kind.equals("none") || kind.equals("gate") ? EVERYTHING : n;
    }

    // snippet: gate
    /** Before the source makes an item. */
    void enter() {
        permits.acquireUninterruptibly();
    }

    /** When the sink is done with items. */
    void leave(int items) {
        permits.release(items);
    }
    // end

    /** The source as the first stage sees it. */
    <T> Flux<T> atTheDoor(Flux<T> source, Counts counts) {
        if (!kind.equals("drop")) {
            return source;
        }
        return source.onBackpressureBuffer(buffer, _ -> counts.add(Step.DROPPED, 1), BufferOverflowStrategy.DROP_LATEST);
    }
}
