package waitlab.webflux;

import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebInputException;
import waitlab.shared.BadValue;

/** Failures as short JSON: a sentence for the person who asked, no stack trace. */
@RestControllerAdvice
class Failures {

    @ExceptionHandler
    ResponseEntity<Map<String, String>> badValue(BadValue failure) {
        return answer(HttpStatus.BAD_REQUEST, failure.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<Map<String, String>> unreadable(ServerWebInputException failure) {
        return answer(HttpStatus.BAD_REQUEST, "The request's body must be a JSON object.");
    }

    @ExceptionHandler
    ResponseEntity<Map<String, String>> status(ResponseStatusException failure) {
        HttpStatus status = HttpStatus.valueOf(failure.getStatusCode().value());
        return answer(status, failure.getReason() == null ? status.getReasonPhrase() : failure.getReason());
    }

    @ExceptionHandler({CannotGetJdbcConnectionException.class, RejectedExecutionException.class, TimeoutException.class})
    ResponseEntity<Map<String, String>> overloaded(Exception failure) {
        return answer(HttpStatus.SERVICE_UNAVAILABLE, "No connection or thread was free in time.");
    }

    private static ResponseEntity<Map<String, String>> answer(HttpStatus status, String sentence) {
        return ResponseEntity.status(status).body(Map.of("error", sentence));
    }
}
