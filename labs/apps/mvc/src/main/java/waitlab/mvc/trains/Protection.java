package waitlab.mvc.trains;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import waitlab.shared.LabClock;
import waitlab.shared.Waits;

/** One run's circuit breaker, as it was asked for, and the states it went through. */
final class Protection {

    /** How a request for the board is protected. */
    record Rules(boolean breaker, boolean staleCache, int timeoutMs, int waitOpenMs, int window, int probes) {

        private static final int LONGEST_MS = 60_000;
        private static final int MOST_CALLS = 1_000;

        /** Reads them from the parameters of a request; {@code parameter} gives null for none. */
        static Rules asked(UnaryOperator<String> parameter) {
            return new Rules(
                    on("breaker", parameter),
                    on("stale_cache", parameter),
                    Waits.whole("timeout_ms", parameter.apply("timeout_ms"), 3_000, 10, LONGEST_MS),
                    Waits.whole("wait_open_ms", parameter.apply("wait_open_ms"), 1_000, 10, LONGEST_MS),
                    Waits.whole("window", parameter.apply("window"), 10, 1, MOST_CALLS),
                    Waits.whole("probes", parameter.apply("probes"), 3, 1, MOST_CALLS));
        }

        private static boolean on(String name, UnaryOperator<String> parameter) {
            return "on".equals(Waits.word(name, parameter.apply(name), "on", "on", "off"));
        }
    }

    /** A state, and when the breaker came into it (microseconds, {@link LabClock}). */
    record Entered(String state, long atUs) {}

    static final String OFF = "off";

    private final Rules rules;
    private final CircuitBreaker breaker;
    private final List<Entered> states = new CopyOnWriteArrayList<>();

    Protection(Rules rules) {
        this.rules = rules;
        breaker = CircuitBreaker.of("api", config(rules));
        enter(breaker.getState());
        breaker.getEventPublisher().onStateTransition(event -> enter(event.getStateTransition().getToState()));
    }

    // snippet: breaker
    private static CircuitBreakerConfig config(Rules rules) {
        return CircuitBreakerConfig.custom()
                .slidingWindowSize(rules.window())
                .minimumNumberOfCalls(rules.window())
                .waitDurationInOpenState(Duration.ofMillis(rules.waitOpenMs()))
                .permittedNumberOfCallsInHalfOpenState(rules.probes())
                .build();
    }
    // end

    /** The call, through the breaker if there is one; it throws what the breaker or the call throws. */
    <T> T protect(Supplier<T> call) {
        return rules.breaker() ? breaker.executeSupplier(call) : call.get();
    }

    Rules rules() {
        return rules;
    }

    String state() {
        return rules.breaker() ? named(breaker.getState()) : OFF;
    }

    List<Entered> states() {
        return rules.breaker() ? List.copyOf(states) : List.of();
    }

    float failureRateThreshold() {
        return breaker.getCircuitBreakerConfig().getFailureRateThreshold();
    }

    private void enter(State state) {
        states.add(new Entered(named(state), LabClock.nowUs()));
    }

    private static String named(State state) {
        return state.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
