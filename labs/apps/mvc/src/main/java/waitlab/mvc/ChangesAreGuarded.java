package waitlab.mvc;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import tools.jackson.databind.json.JsonMapper;
import waitlab.shared.Guard;

/** What every request passes before its handler. */
@Component
class ChangesAreGuarded extends OncePerRequestFilter {

    private final Guard guard;
    private final JsonMapper json;

    ChangesAreGuarded(Guard guard, JsonMapper json) {
        this.guard = guard;
        this.json = json;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        Optional<String> refusal = guard.refusal(
                request.getMethod(),
                request.getHeader(HttpHeaders.HOST),
                request.getHeader(HttpHeaders.ORIGIN),
                request.getHeader(Guard.TOKEN_HEADER));
        if (refusal.isEmpty()) {
            chain.doFilter(request, response);
            return;
        }
        response.setStatus(HttpServletResponse.SC_FORBIDDEN);
        response.setContentType(MediaType.APPLICATION_JSON_VALUE);
        json.writeValue(response.getOutputStream(), Map.of("error", refusal.get()));
    }
}
