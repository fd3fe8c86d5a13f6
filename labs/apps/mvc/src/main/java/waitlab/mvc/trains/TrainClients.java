package waitlab.mvc.trains;

import java.util.function.Function;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import waitlab.shared.Arrivals;
import waitlab.shared.BadValue;

/** The same call through four clients. Three of them keep the calling thread; the last one lets it go. */
@Trains
@Component
class TrainClients {

    private final Blocking jdk;
    private final Blocking detected;
    private final WebClient webClient;

    /** The two blocking clients on one HTTP library. */
    record Blocking(RestTemplate restTemplate, RestClient restClient) {}

    TrainClients(Blocking jdk, Blocking detected, WebClient webClient) {
        this.jdk = jdk;
        this.detected = detected;
        this.webClient = webClient;
    }

    // snippet: resttemplate
    Arrivals byRestTemplate(Call call) {
        return restTemplate(call).getForObject(call.uri(), Arrivals.class);
    }
    // end

    // snippet: restclient
    Arrivals byRestClient(Call call) {
        return restClient(call).get().uri(call.uri()).retrieve().body(Arrivals.class);
    }
    // end

    // snippet: webclient-block
    Arrivals byWebClientBlocked(Call call) {
        return webClient.get().uri(call.uri()).retrieve().bodyToMono(Arrivals.class).block();
    }
    // end

    // snippet: webclient-mono
    Mono<Arrivals> byWebClient(Call call) {
        return webClient.get().uri(call.uri()).retrieve().bodyToMono(Arrivals.class);
    }
    // end

    /** The blocking client of that name. */
    Function<Call, Arrivals> blocking(String client) {
        return switch (client) {
            case "resttemplate" -> this::byRestTemplate;
            case "restclient" -> this::byRestClient;
            case "webclient-block" -> this::byWebClientBlocked;
            case null, default ->
                    throw new BadValue("client must be resttemplate, restclient, webclient-block or webclient-mono.");
        };
    }

    private RestTemplate restTemplate(Call call) {
        return (call.detected() ? detected : jdk).restTemplate();
    }

    private RestClient restClient(Call call) {
        return (call.detected() ? detected : jdk).restClient();
    }
}
