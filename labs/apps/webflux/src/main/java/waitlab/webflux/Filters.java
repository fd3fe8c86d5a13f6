package waitlab.webflux;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.WebFilter;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import waitlab.shared.Guard;

/** What every request passes before its handler. */
@Configuration(proxyBeanMethods = false)
class Filters {

    @Bean
    WebFilter changesAreGuarded(Guard guard) {
        return (exchange, chain) -> {
            ServerHttpRequest request = exchange.getRequest();
            HttpHeaders headers = request.getHeaders();
            return guard.refusal(
                            request.getMethod().name(),
                            headers.getFirst(HttpHeaders.HOST),
                            headers.getOrigin(),
                            headers.getFirst(Guard.TOKEN_HEADER))
                    .map(why -> Mono.<Void>error(new ResponseStatusException(HttpStatus.FORBIDDEN, why)))
                    .orElseGet(() -> chain.filter(exchange));
        };
    }

    /** Only with BlockHound: lets a report name the endpoint that the thread was serving. */
    @Bean
    @ConditionalOnProperty(name = "lab.blockhound", havingValue = "1")
    WebFilter endpointIsKnown() {
        return (exchange, chain) -> new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Void> subscriber) {
                String path = exchange.getRequest().getPath().value();
                BlockingReports.during(path, () -> chain.filter(exchange).subscribe(subscriber));
            }
        };
    }
}
