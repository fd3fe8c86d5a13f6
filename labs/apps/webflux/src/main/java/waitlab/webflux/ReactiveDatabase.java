package waitlab.webflux;

import java.time.Duration;
import org.springframework.r2dbc.core.DatabaseClient;
import reactor.core.publisher.Mono;
import waitlab.shared.LabClock;
import waitlab.shared.Reply;
import waitlab.shared.Waits;

/** The same query through R2DBC: no thread waits; whichever loop receives the answer carries on. */
class ReactiveDatabase {

    private final DatabaseClient client;
    private final Duration timeout;

    ReactiveDatabase(DatabaseClient client, Duration timeout) {
        this.client = client;
        this.timeout = timeout;
    }

    /** The reply's times are those of the query's start and end; in between it held no thread. */
    Mono<Reply> sleep(Duration wait) {
        return Mono.fromSupplier(LabClock::nowUs).flatMap(started -> query(wait).timeout(timeout).then(Mono.fromCallable(
                () -> new Reply(Thread.currentThread().getName(), started, LabClock.nowUs()))));
    }

    Mono<Void> query(Duration wait) {
        return client.sql("select pg_sleep($1)").bind(0, Waits.inSeconds(wait)).then();
    }
}
