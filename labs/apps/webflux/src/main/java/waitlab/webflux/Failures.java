package waitlab.webflux;

import io.r2dbc.spi.R2dbcTimeoutException;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebInputException;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;
import waitlab.shared.BadValue;

/** Every failure as short JSON: one sentence for the person who asked, no stack trace. */
@Component
@Order(-2)
class Failures implements WebExceptionHandler {

    private static final Logger LOG = LoggerFactory.getLogger("failures");

    private final JsonMapper json;

    private record Answer(HttpStatus status, String sentence) {}

    Failures(JsonMapper json) {
        this.json = json;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        ServerHttpResponse response = exchange.getResponse();
        if (response.isCommitted()) {
            return Mono.error(failure);
        }
        Answer answer = answerTo(failure);
        response.setStatusCode(answer.status());
        response.getHeaders().setContentType(MediaType.APPLICATION_JSON);
        byte[] body = json.writeValueAsBytes(Map.of("error", answer.sentence()));
        return response.writeWith(Mono.just(response.bufferFactory().wrap(body)));
    }

    private static Answer answerTo(Throwable failure) {
        return switch (failure) {
            case BadValue bad -> new Answer(HttpStatus.BAD_REQUEST, bad.getMessage());
            case ServerWebInputException _ ->
                    new Answer(HttpStatus.BAD_REQUEST, "The request's body must be a JSON object.");
            case ResponseStatusException known -> known(known);
            case RejectedExecutionException _ ->
                    new Answer(HttpStatus.SERVICE_UNAVAILABLE, "The offload pool's queue is full.");
            case CannotGetJdbcConnectionException _ -> noConnection();
            case Throwable late when late.getCause() instanceof R2dbcTimeoutException -> noConnection();
            default -> unforeseen(failure);
        };
    }

    private static Answer known(ResponseStatusException failure) {
        HttpStatus status = HttpStatus.valueOf(failure.getStatusCode().value());
        return new Answer(status, failure.getReason() == null ? status.getReasonPhrase() + "." : failure.getReason());
    }

    private static Answer noConnection() {
        return new Answer(HttpStatus.SERVICE_UNAVAILABLE, "No database connection was free in time.");
    }

    private static Answer unforeseen(Throwable failure) {
        LOG.warn("A request failed: {}", failure.toString());
        return new Answer(HttpStatus.INTERNAL_SERVER_ERROR, "The request failed; the server's log says why.");
    }
}
