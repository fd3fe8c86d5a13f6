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

    private static Mono<Arrivals> answer(State now, String station) {
        Mono<Arrivals> arrivals = Mono.fromSupplier(() -> Arrivals.at(station));
        return switch (now.api()) {
            case OK -> arrivals;
            case SLOW -> Mono.delay(now.delay()).then(arrivals);
            case DOWN -> Mono.never();
            default ->
                    Mono.error(new ResponseStatusException(HttpStatus.INTERNAL_SERVER_ERROR, "It fails, as ordered."));
        };
    }

    @PutMapping("/external")
    Map<String, Object> behave(
            @RequestParam(name = "api", required = false) String api,
            @RequestParam(name = "ms", required = false) String ms) {
        state = state.with(api, ms);
        return external();
    }

    @GetMapping("/external")
    Map<String, Object> external() {
        State now = state;
        return Map.of("api", now.api(), "ms", now.delay().toMillis(), "waiting", waiting.get(), "asked", asked.get());
    }
}
