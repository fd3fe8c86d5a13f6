package waitlab.mvc;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Where the server itself sends a request that no handler could answer: a sentence here too, and no page. */
@RestController
class LastResort implements ErrorController {

    @RequestMapping("/error")
    ResponseEntity<Map<String, String>> error(HttpServletRequest request) {
        Object code = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
        HttpStatus status = code instanceof Integer known ? HttpStatus.resolve(known) : HttpStatus.NOT_FOUND;
        HttpStatus told = status == null ? HttpStatus.INTERNAL_SERVER_ERROR : status;
        return Failures.answer(told, told.getReasonPhrase() + ".");
    }
}
