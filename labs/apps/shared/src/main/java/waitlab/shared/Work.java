package waitlab.shared;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * What one request does on the thread it was given: first it computes, then it calls somebody who takes a while.
 *
 * @param call how long each call takes
 * @param cpu how much processor time the request burns before it calls
 * @param calls how many calls it makes
 * @param parallel false: one call after another, on the request's own thread; true: all at once, each on a virtual
 *     thread named {@code call-N}, while the request's own thread waits for the last of them
 */
public record Work(Duration call, Duration cpu, int calls, boolean parallel) {

    /** A request makes no more calls than this. */
    public static final int MOST_CALLS = 100;

    private static final String USUAL_MS = "100";
    private static final int LONGEST_MS = (int) Waits.LONGEST.toMillis();
    private static final ThreadFactory CALLERS = Thread.ofVirtual().name("call-", 1).factory();

    /** Reads {@code ms}, {@code cpu_ms}, {@code calls} and {@code parallel}; {@code parameter} gives null for none. */
    public static Work asked(UnaryOperator<String> parameter) {
        String ms = parameter.apply("ms");
        return new Work(
                Waits.ofMillis(ms == null ? USUAL_MS : ms),
                Duration.ofMillis(Waits.whole("cpu_ms", parameter.apply("cpu_ms"), 0, 0, LONGEST_MS)),
                Waits.whole("calls", parameter.apply("calls"), 1, 1, MOST_CALLS),
                yes("parallel", parameter.apply("parallel")));
    }

    /** Does the work, each call through {@code downstream}; says which thread was held, and from when to when. */
    public Done on(Consumer<Duration> downstream) {
        long started = LabClock.nowUs();
        Burn.processor(cpu);
        if (parallel) {
            callAtOnce(downstream);
        } else {
            callInTurn(downstream);
        }
        Thread held = Thread.currentThread();
        return new Done(held.getName(), held.isVirtual(), started, LabClock.nowUs());
    }

    // snippet: calls-in-turn
    private void callInTurn(Consumer<Duration> downstream) {
        for (int i = 0; i < calls; i++) {
            downstream.accept(call);
        }
    }
    // end

    // snippet: calls-at-once
    private void callAtOnce(Consumer<Duration> downstream) {
        List<Future<?>> answers = new ArrayList<>();
        try (ExecutorService callers = Executors.newThreadPerTaskExecutor(CALLERS)) {
            for (int i = 0; i < calls; i++) {
                answers.add(callers.submit(() -> downstream.accept(call)));
            }
        }
        answers.forEach(Work::failed);
    }
    // end

    /** Passes on what a call threw. */
    private static void failed(Future<?> answer) {
        try {
            answer.get();
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof RuntimeException known ? known : new IllegalStateException(failure);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("The wait for the calls was interrupted.", stopped);
        }
    }

    private static boolean yes(String name, String value) {
        return switch (value) {
            case null -> false;
            case "false", "0" -> false;
            case "true", "1" -> true;
            default -> throw new BadValue(name + " must be true or false, but was '" + Text.shown(value) + "'.");
        };
    }

    /** The thread that a request held; {@code startedUs} and {@code endedUs} are of {@link LabClock}. */
    public record Done(String thread, boolean virtual, long startedUs, long endedUs) {}
}
