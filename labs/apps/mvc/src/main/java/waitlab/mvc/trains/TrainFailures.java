package waitlab.mvc.trains;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import java.sql.SQLTransientConnectionException;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.springframework.core.annotation.Order;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.client.RestClientException;
import org.springframework.web.reactive.function.client.WebClientException;
import org.springframework.web.server.ResponseStatusException;
import waitlab.mvc.Failures;

/** What can go wrong around the trains, as short JSON; everything else is left to the app's own handler. */
@Trains
@Order(0)
@RestControllerAdvice(basePackageClasses = TrainFailures.class)
class TrainFailures {

    private final Tables tables;

    TrainFailures(Tables tables) {
        this.tables = tables;
    }

    /** JPA and Spring wrap the pool's refusal in exceptions of their own; anything else may mean a new database. */
    @ExceptionHandler({TransactionException.class, DataAccessException.class})
    ResponseEntity<Map<String, String>> database(RuntimeException failure) {
        boolean refused = causes(failure).anyMatch(SQLTransientConnectionException.class::isInstance);
        if (refused) {
            return answer(HttpStatus.SERVICE_UNAVAILABLE, "No database connection was free in time.");
        }
        tables.doubt();
        return answer(HttpStatus.INTERNAL_SERVER_ERROR, "The database failed.");
    }

    @ExceptionHandler({RestClientException.class, WebClientException.class})
    ResponseEntity<Map<String, String>> api(RuntimeException failure) {
        return isLate(failure)
                ? answer(HttpStatus.GATEWAY_TIMEOUT, "The API did not answer in time.")
                : answer(HttpStatus.BAD_GATEWAY, "The API failed.");
    }

    @ExceptionHandler
    ResponseEntity<Map<String, String>> refused(CallNotPermittedException refusal) {
        return answer(HttpStatus.SERVICE_UNAVAILABLE, "The breaker is open, and there is nothing old to show.");
    }

    @ExceptionHandler
    ResponseEntity<Map<String, String>> known(ResponseStatusException failure) {
        return answer(HttpStatus.valueOf(failure.getStatusCode().value()), failure.getReason());
    }

    /** Whether a call ended because its time was up: every library has a name of its own for that. */
    static boolean isLate(Throwable failure) {
        return causes(failure)
                .anyMatch(cause -> cause instanceof TimeoutException
                        || cause instanceof java.net.SocketTimeoutException
                        || cause instanceof java.net.http.HttpTimeoutException
                        || cause instanceof io.netty.channel.ConnectTimeoutException
                        || cause instanceof io.netty.handler.timeout.TimeoutException);
    }

    private static Stream<Throwable> causes(Throwable failure) {
        return Stream.iterate(failure, cause -> cause != null, Throwable::getCause);
    }

    private static ResponseEntity<Map<String, String>> answer(HttpStatus status, String sentence) {
        return Failures.answer(status, sentence == null ? status.getReasonPhrase() + "." : sentence);
    }
}
