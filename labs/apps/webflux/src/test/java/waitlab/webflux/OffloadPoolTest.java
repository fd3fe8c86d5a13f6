package waitlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class OffloadPoolTest {

    private static final Duration SOON = Duration.ofSeconds(5);

    private final OffloadPool pool = new OffloadPool();

    private String threadNow() {
        return Mono.fromCallable(() -> Thread.currentThread().getName()).subscribeOn(pool).block(SOON);
    }

    @Test
    void isReactorsOwnUntilAnotherSizeIsAskedFor() {
        assertThat(threadNow()).startsWith("boundedElastic-");
        assertThat(pool.size()).isEqualTo(10 * Runtime.getRuntime().availableProcessors());
    }

    @Test
    void namesAndCountsItsThreads() {
        pool.resize(2);
        assertThat(threadNow()).isEqualTo("offload-1");
        assertThat(List.of(pool.name(), pool.size())).isEqualTo(List.of("offload", 2));
    }

    @Test
    void returnsToReactorsOwnAtTheUsualSize() {
        pool.resize(2);
        pool.resize(OffloadPool.usualSize());
        assertThat(threadNow()).startsWith("boundedElastic-");
    }

    @Test
    void runsNoMoreTasksAtOnceThanItHasThreads() {
        pool.resize(2);
        AtomicInteger now = new AtomicInteger();
        Integer most = Flux.range(0, 8)
                .flatMap(_ -> Mono.fromCallable(() -> countedPause(now)).subscribeOn(pool), 8)
                .reduce(Integer::max)
                .block(SOON);
        assertThat(most).isEqualTo(2);
    }

    private static int countedPause(AtomicInteger now) throws InterruptedException {
        int running = now.incrementAndGet();
        Thread.sleep(20);
        now.decrementAndGet();
        return running;
    }

    @Test
    void finishesRunningAndQueuedTasksAfterAChange() throws InterruptedException {
        pool.resize(1);
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Mono<String> task = Mono.fromCallable(() -> {
            running.countDown();
            mayEnd.await();
            return Thread.currentThread().getName();
        });
        Mono<List<String>> both = Flux.merge(task.subscribeOn(pool), task.subscribeOn(pool)).collectList().cache();
        both.subscribe();
        running.await();
        pool.resize(3);
        assertThat(threadNow()).isEqualTo("offload-1");
        mayEnd.countDown();
        assertThat(both.block(SOON)).containsExactly("offload-1", "offload-1");
    }

    @Test
    void takesAHandOverThatWasAssembledBeforeTheChange() {
        pool.resize(1);
        Mono<String> handOver = Mono.just(1)
                .map(i -> {
                    pool.resize(2);
                    return i;
                })
                .publishOn(pool)
                .map(_ -> Thread.currentThread().getName());
        assertThat(handOver.block(SOON)).startsWith("offload-");
    }
}
