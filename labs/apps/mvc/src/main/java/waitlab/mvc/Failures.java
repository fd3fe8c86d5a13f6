package waitlab.mvc;

import java.io.IOException;
import java.util.Map;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.MissingServletRequestParameterException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import waitlab.shared.BadValue;

/** Every failure as short JSON: one sentence for the person who asked, no stack trace. */
@RestControllerAdvice
public class Failures {

    private static final Logger LOG = LoggerFactory.getLogger("failures");

    @ExceptionHandler
    ResponseEntity<Map<String, String>> answer(Exception failure) throws IOException {
        return switch (failure) {
            case BadValue bad -> answer(HttpStatus.BAD_REQUEST, bad.getMessage());
            case HttpMessageNotReadableException _ ->
                    answer(HttpStatus.BAD_REQUEST, "The request's body must be a JSON object.");
            case InvalidParameterException _ ->
                    answer(HttpStatus.BAD_REQUEST, "The request's parameters cannot be read.");
            case MissingServletRequestParameterException missing ->
                    answer(HttpStatus.BAD_REQUEST, missing.getParameterName() + " must be given.");
            case CannotGetJdbcConnectionException _ ->
                    answer(HttpStatus.SERVICE_UNAVAILABLE, "No database connection was free in time.");
            case ErrorResponse known -> known(known);
            case IOException gone -> throw gone;
            default -> unforeseen(failure);
        };
    }

    private static ResponseEntity<Map<String, String>> known(ErrorResponse failure) {
        HttpStatus status = HttpStatus.valueOf(failure.getStatusCode().value());
        return answer(status, status.getReasonPhrase() + ".");
    }

    private static ResponseEntity<Map<String, String>> unforeseen(Exception failure) {
        LOG.warn("A request failed: {}", failure.toString());
        return answer(HttpStatus.INTERNAL_SERVER_ERROR, "The request failed; the server's log says why.");
    }

    /** JSON whatever the client would rather have: else an error would fail in its turn. */
    public static ResponseEntity<Map<String, String>> answer(HttpStatus status, String sentence) {
        return ResponseEntity.status(status)
                .contentType(MediaType.APPLICATION_JSON)
                .body(Map.of("error", sentence));
    }
}
