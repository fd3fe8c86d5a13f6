package waitlab.webflux;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import waitlab.shared.Arrivals;
import waitlab.shared.BadValue;
import waitlab.shared.Waits;

/**
 * Somebody else's API, as slow or as broken as it is asked to be. No thread waits here while a caller does: a timer
 * answers, or nobody.
 */
@RestController
class ExternalHandlers {

    private static final String OK = "ok";
    private static final String SLOW = "slow";
    private static final String DOWN = "down";
    private static final String FAILS = "fails";
    private static final int LONGEST_NAME = 40;

    private final AtomicLong asked = new AtomicLong();
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile State state = new State(SLOW, Waits.ofMillis(null));
    /** Ends when nobody is to wait any longer: of a run that was stopped, the callers that still hang. */
    private volatile Sinks.Empty<Void> patience = Sinks.empty();

    /** How the API behaves towards callers who do not say. */
    private record State(String api, Duration delay) {

        State with(String otherApi, String otherMs) {
            return new State(
                    Waits.word("api", otherApi, api, OK, SLOW, DOWN, FAILS),
                    otherMs == null ? delay : Waits.ofMillis(otherMs));
        }
    }

    @GetMapping("/external/arrivals")
    Mono<Arrivals> arrivals(
            @RequestParam(name = "station", defaultValue = "Bern") String station,
            @RequestParam(name = "api", required = false) String api,
            @RequestParam(name = "ms", required = false) String ms) {
        if (station.isBlank() || station.length() > LONGEST_NAME) {
            throw new BadValue("station must be a name of 1 to " + LONGEST_NAME + " characters.");
        }
        State now = state.with(api, ms);
        asked.incrementAndGet();
        return answer(now, station)
                .doOnSubscribe(_ -> waiting.incrementAndGet())
                .doFinally(_ -> waiting.decrementAndGet());
    }

    private Mono<Arrivals> answer(State now, String station) {
        Mono<Arrivals> arrivals = Mono.fromSupplier(() -> Arrivals.at(station));
        return switch (now.api()) {
            case OK -> arrivals;
            case SLOW -> Mono.firstWithSignal(Mono.delay(now.delay()).then(), patience.asMono()).then(arrivals);
            case DOWN -> patience.asMono().then(arrivals);
            default ->
                    Mono.error(new ResponseStatusException(HttpStatus.INTERNAL_SERVER_ERROR, "It fails, as ordered."));
        };
    }

    @PutMapping("/external")
    Map<String, Object> behave(
            @RequestParam(name = "api", required = false) String api,
            @RequestParam(name = "ms", required = false) String ms,
            @RequestParam(name = "hurry", required = false) String hurry) {
        State wanted = state.with(api, ms);
        hurry(Waits.word("hurry", hurry, null, "true", "false"));
        state = wanted;
        return external();
    }

    /** In a hurry everybody is answered at once, also who waits already, however slow or down the API is. */
    private void hurry(String wanted) {
        if ("true".equals(wanted)) {
            patience.tryEmitEmpty();
        } else if ("false".equals(wanted)) {
            patience = Sinks.empty();
        }
    }

    @GetMapping("/external")
    Map<String, Object> external() {
        State now = state;
        return Map.of("api", now.api(), "ms", now.delay().toMillis(), "waiting", waiting.get(), "asked", asked.get());
    }
}
