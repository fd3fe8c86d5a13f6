package waitlab.mvc.trains;

import java.time.Duration;
import java.util.Map;
import org.hibernate.Version;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.http.client.HttpClientSettings;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import waitlab.mvc.MoreSettings;
import waitlab.mvc.trains.TrainClients.Blocking;

/** What is in force around the trains, and the way to say where the API is. */
@Trains
@RestController
class TrainsSettings implements MoreSettings {

    private final ApiAddress api;
    private final Blocking jdk;
    private final Blocking detected;
    private final HttpClientSettings http;
    private final boolean openInView;
    private final long asyncTimeoutMs;
    private final ClientWorkers workers;

    TrainsSettings(
            ApiAddress api,
            Blocking jdk,
            Blocking detected,
            HttpClientSettings http,
            @Value("${spring.jpa.open-in-view}") boolean openInView,
            @Value("${spring.mvc.async.request-timeout}") Duration asyncTimeout,
            ClientWorkers workers) {
        this.api = api;
        this.jdk = jdk;
        this.detected = detected;
        this.http = http;
        this.openInView = openInView;
        asyncTimeoutMs = asyncTimeout.toMillis();
        this.workers = workers;
    }

    @Override
    public void addTo(Map<String, Object> settings) {
        settings.put("trains", true);
        settings.put("open_in_view", openInView);
        settings.put("api_url", api.base() == null ? "" : api.base().toString());
        settings.put("http_factory", factory(jdk));
        settings.put("http_factory_detected", factory(detected));
        settings.put("http_version", TrainsConfiguration.HTTP_VERSION.name());
        settings.put("client_connections", TrainsConfiguration.CONNECTIONS);
        settings.put("client_pending_acquire_ms", TrainsConfiguration.PENDING_ACQUIRE.toMillis());
        settings.put("jdk_client_connections", "no limit");
        settings.put("client_connect_timeout_ms", http.connectTimeout().toMillis());
        settings.put("client_read_timeout_ms", http.readTimeout().toMillis());
        settings.put("async_timeout_ms", asyncTimeoutMs);
        settings.put("hibernate", Version.getVersionString());
    }

    @Override
    public void shedIdle() {
        workers.shedIdle();
    }

    @PutMapping("/api")
    Map<String, Object> change(@RequestParam("url") String url) {
        api.change(url);
        return Map.of("api_url", api.base().toString());
    }

    private static String factory(Blocking clients) {
        return clients.restTemplate().getRequestFactory().getClass().getSimpleName();
    }
}
