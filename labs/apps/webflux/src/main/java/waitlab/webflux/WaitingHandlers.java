package waitlab.webflux;

import java.time.Duration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import waitlab.shared.Reply;
import waitlab.shared.Waits;

/**
 * The ways of waiting, side by side. Each differs from its neighbour in one operator or one call; what a request
 * answers says which thread it held, and from when to when.
 */
@RestController
class WaitingHandlers {

    private final BlockingDatabase database;
    private final ReactiveDatabase reactiveDatabase;
    private final OffloadPool offload;

    WaitingHandlers(BlockingDatabase database, ReactiveDatabase reactiveDatabase, OffloadPool offload) {
        this.database = database;
        this.reactiveDatabase = reactiveDatabase;
        this.offload = offload;
    }

    @GetMapping("/fast")
    Mono<Reply> fast() {
        // snippet: fast
        return Mono.fromCallable(() -> Reply.of(() -> {}));
        // end
    }

    @GetMapping("/sleep")
    Mono<Reply> sleep(@RequestParam(name = "ms", required = false) String ms) {
        Duration wait = Waits.ofMillis(ms);
        // snippet: sleep
        return Mono.fromCallable(() -> Reply.of(() -> Waits.sleep(wait)));
        // end
    }

    @GetMapping("/jdbc")
    Mono<Reply> jdbc(@RequestParam(name = "s", required = false) String s) {
        Duration wait = Waits.ofSeconds(s);
        // snippet: jdbc
        return Mono.fromCallable(() -> database.sleep(wait));
        // end
    }

    @GetMapping("/jdbc-isolated")
    Mono<Reply> jdbcIsolated(@RequestParam(name = "s", required = false) String s) {
        Duration wait = Waits.ofSeconds(s);
        // snippet: jdbc-isolated
        return Mono.fromCallable(() -> database.sleep(wait))
                .subscribeOn(offload);
        // end
    }

    @GetMapping("/jdbc-publish")
    Mono<Reply.Moved> jdbcPublish(@RequestParam(name = "s", required = false) String s) {
        Duration wait = Waits.ofSeconds(s);
        // snippet: jdbc-publish
        return Mono.just(wait)
                .map(database::sleep)
                .publishOn(offload)
                .map(Reply::continuedHere);
        // end
    }

    @GetMapping("/callable-publish")
    Mono<Reply.Moved> callablePublish(@RequestParam(name = "s", required = false) String s) {
        Duration wait = Waits.ofSeconds(s);
        // snippet: callable-publish
        return Mono.fromCallable(() -> database.sleep(wait))
                .publishOn(offload)
                .map(Reply::continuedHere);
        // end
    }

    @GetMapping("/r2dbc")
    Mono<Reply> r2dbc(@RequestParam(name = "s", required = false) String s) {
        Duration wait = Waits.ofSeconds(s);
        // snippet: r2dbc
        return reactiveDatabase.sleep(wait);
        // end
    }
}
