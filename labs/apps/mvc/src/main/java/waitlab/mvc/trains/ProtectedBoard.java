package waitlab.mvc.trains;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.http.client.ClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.HttpClientSettings;
import org.springframework.stereotype.Service;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;
import waitlab.shared.Arrivals;
import waitlab.shared.LabClock;

/** The board that always has something to show: fresh from the API, or what the API said when it last answered. */
@Trains
@Service
class ProtectedBoard {

    private static final int STATIONS = 10_000;
    private static final Duration KEPT = Duration.ofHours(1);
    private static final double US_PER_MS = 1_000;

    private final RestClient.Builder clients;
    private final ClientHttpRequestFactoryBuilder<?> library;
    private final HttpClientSettings http;
    private final Cache<String, Kept> cache =
            Caffeine.newBuilder().maximumSize(STATIONS).expireAfterWrite(KEPT).build();
    private volatile Run run;

    /** What the API said, and when this server had it. */
    private record Kept(Arrivals arrivals, long atUs) {}

    /** A breaker with the client whose time-out it was asked for, and what became of its requests. */
    private record Run(Protection protection, RestClient client, BoardLog log) {}

    /** What a user sees, and how old it is. */
    record Shown(Arrivals arrivals, String source, double ageMs, boolean refused, String breaker) {}

    ProtectedBoard(RestClient.Builder clients, ClientHttpRequestFactoryBuilder<?> library, HttpClientSettings http) {
        this.clients = clients;
        this.library = library;
        this.http = http;
        protectAnew(Protection.Rules.asked(_ -> null));
    }

    /** A fresh breaker with these rules, and counts from zero; the cache stays. */
    final void protectAnew(Protection.Rules rules) {
        HttpClientSettings patient = http.withReadTimeout(Duration.ofMillis(rules.timeoutMs()));
        RestClient client = clients.clone().requestFactory(library.build(patient)).build();
        run = new Run(new Protection(rules), client, new BoardLog());
    }

    void forget() {
        cache.invalidateAll();
    }

    // snippet: stale
    Shown show(Call call) {
        Run now = run;
        try {
            Arrivals fresh = now.protection().protect(() -> ask(now, call));
            cache.put(call.station(), new Kept(fresh, LabClock.nowUs()));
            return shown(now, call, fresh);
        } catch (CallNotPermittedException | RestClientException failure) {
            return stale(now, call, failure);
        }
    }
    // end

    private Arrivals ask(Run now, Call call) {
        now.log().called();
        try {
            return now.client().get().uri(call.uri()).retrieve().body(Arrivals.class);
        } catch (RestClientException failure) {
            now.log().failed(TrainFailures.isLate(failure));
            throw failure;
        }
    }

    private Shown shown(Run now, Call call, Arrivals fresh) {
        now.log().answered(line(call, "fresh", false, 0.0));
        return new Shown(fresh, "fresh", 0, false, now.protection().state());
    }

    /** Where the cache has nothing, the user sees the failure. */
    private Shown stale(Run now, Call call, RuntimeException failure) {
        boolean refused = failure instanceof CallNotPermittedException;
        Kept kept = now.protection().rules().staleCache() ? cache.getIfPresent(call.station()) : null;
        if (kept == null) {
            now.log().answered(line(call, "none", refused, null));
            throw failure;
        }
        double age = (LabClock.nowUs() - kept.atUs()) / US_PER_MS;
        now.log().answered(line(call, "stale", refused, age));
        return new Shown(kept.arrivals(), "stale", age, refused, now.protection().state());
    }

    private static BoardLog.Line line(Call call, String source, boolean refused, Double age) {
        return new BoardLog.Line(
                call.startedUs(), (LabClock.nowUs() - call.startedUs()) / US_PER_MS, source, refused, age);
    }

    /** The rules in force, the breaker's states, and what became of the requests. */
    Map<String, Object> told() {
        Run now = run;
        Protection.Rules rules = now.protection().rules();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("breaker", rules.breaker() ? "on" : "off");
        answer.put("stale_cache", rules.staleCache() ? "on" : "off");
        answer.put("timeout_ms", rules.timeoutMs());
        answer.put("wait_open_ms", rules.waitOpenMs());
        answer.put("window", rules.window());
        answer.put("probes", rules.probes());
        answer.put("failure_rate_threshold", now.protection().failureRateThreshold());
        answer.put("cached_stations", cache.estimatedSize());
        answer.put("state", now.protection().state());
        answer.put("states", now.protection().states());
        now.log().addTo(answer);
        return answer;
    }
}
