package waitlab.shared;

import java.util.Map;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Where requests wait in a server, and what is busy: watched from a DELETE on, read by a GET. */
public abstract class QueueEndpoints {

    private final QueueWatch watch;

    /** Endpoints of this watch, which knows the server's own queues. */
    protected QueueEndpoints(QueueWatch watch) {
        this.watch = watch;
    }

    /** What was seen since the start. */
    @GetMapping("/queues")
    public Map<String, Object> queues() {
        return watch.answer();
    }

    /** Forgets what was seen and watches anew. */
    @DeleteMapping("/queues")
    public Map<String, Object> watchAnew(@RequestParam(name = "seconds", required = false) String seconds) {
        return watch.start(seconds);
    }
}
