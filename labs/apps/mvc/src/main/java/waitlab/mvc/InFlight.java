package waitlab.mvc;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** How many requests have a virtual thread at this moment: the port has no pool that would count them. */
@Component
class InFlight extends OncePerRequestFilter {

    private final AtomicInteger onVirtualThreads = new AtomicInteger();

    int onVirtualThreads() {
        return onVirtualThreads.get();
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (!Thread.currentThread().isVirtual()) {
            chain.doFilter(request, response);
            return;
        }
        onVirtualThreads.incrementAndGet();
        try {
            chain.doFilter(request, response);
        } finally {
            onVirtualThreads.decrementAndGet();
        }
    }
}
