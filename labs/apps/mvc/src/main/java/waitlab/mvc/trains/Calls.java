package waitlab.mvc.trains;

import java.net.URI;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.util.UriComponentsBuilder;
import waitlab.mvc.WorkerCount;
import waitlab.shared.BadValue;
import waitlab.shared.LabClock;
import waitlab.shared.Waits;

/** Reads what a request wants to know from the API: {@code station}, {@code api}, {@code api_ms}, {@code factory}. */
@Trains
@Component
class Calls {

    private static final Pattern STATION = Pattern.compile("[\\p{L}][\\p{L}\\p{N} .'-]{0,39}");

    private final ApiAddress api;
    private final WorkerCount workers;

    Calls(ApiAddress api, WorkerCount workers) {
        this.api = api;
        this.workers = workers;
    }

    /** {@code parameter} gives null for none; what is left out is the API's own choice. */
    Call asked(UnaryOperator<String> parameter) {
        String station = station(parameter.apply("station"));
        String factory = Waits.word("factory", parameter.apply("factory"), "jdk", "jdk", "detected");
        Thread taker = Thread.currentThread();
        workers.working(taker);
        return new Call(
                uri(station, parameter.apply("api"), parameter.apply("api_ms")),
                station,
                "detected".equals(factory),
                taker.getName(),
                taker.isVirtual(),
                LabClock.nowUs());
    }

    private URI uri(String station, String state, String ms) {
        if (api.base() == null) {
            throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "Nobody has said where the API is.");
        }
        UriComponentsBuilder uri = UriComponentsBuilder.fromUri(api.base())
                .path("/external/arrivals")
                .queryParam("station", "{station}");
        if (state != null) {
            uri.queryParam("api", Waits.word("api", state, null, "ok", "slow", "down", "fails"));
        }
        if (ms != null) {
            uri.queryParam("ms", Waits.whole("api_ms", ms, 0, 0, (int) Waits.LONGEST.toMillis()));
        }
        return uri.encode().buildAndExpand(station).toUri();
    }

    private static String station(String name) {
        if (name == null) {
            return "Bern";
        }
        if (!STATION.matcher(name).matches()) {
            throw new BadValue("station must be a name of 1 to 40 letters.");
        }
        return name;
    }
}
