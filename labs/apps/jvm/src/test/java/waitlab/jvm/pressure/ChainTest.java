package waitlab.jvm.pressure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** A source twice as fast as the sink, for half a second: where its items are meanwhile, and that none is lost. */
class ChainTest {

    private static final int N = 40;
    private static final int GATE = 30;
    private static final int BUFFER = 20;
    private static final int BATCH = 10;
    private static final long MADE_UP_FOR_MS = 50;
    private static final Chain.Rates RATES = new Chain.Rates(2000, 4000, 1000, BATCH, Duration.ofMillis(500));

    private static List<Map<String, Long>> looks(String control) throws InterruptedException {
        List<Map<String, Long>> looks = new ArrayList<>();
        try (Chain chain = new Chain(RATES, new Control(control, N, GATE, BUFFER))) {
            CountDownLatch over = new CountDownLatch(1);
            chain.run().doFinally(_ -> over.countDown()).subscribe();
            while (!over.await(2, TimeUnit.MILLISECONDS)) {
                looks.add(chain.now());
            }
            looks.add(chain.now());
        }
        return looks;
    }

    private static long peak(List<Map<String, Long>> looks, String queue) {
        return looks.stream().mapToLong(look -> look.get(queue)).max().orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "gate", "request-n", "drop"})
    void everyItemIsConsumedOrDroppedOnce(String control) throws InterruptedException {
        Map<String, Long> end = looks(control).getLast();
        assertThat(end.get("produced")).isPositive().isEqualTo(end.get("consumed") + end.get("dropped"));
        assertThat(List.of(end.get("door"), end.get("transform"), end.get("batch"), end.get("sink"))).containsOnly(0L);
    }

    @Test
    void askingForNBoundsEveryQueueByN() throws InterruptedException {
        List<Map<String, Long>> looks = looks("request-n");
        assertThat(List.of(peak(looks, "transform"), peak(looks, "sink"))).allMatch(items -> items <= N);
        assertThat(peak(looks, "batch")).isLessThan(BATCH);
        assertThat(looks.getLast().get("dropped")).isZero();
    }

    @Test
    void aGateBoundsAllQueuesTogether() throws InterruptedException {
        List<Map<String, Long>> looks = looks("gate");
        assertThat(looks).allMatch(look -> look.get("transform") + look.get("batch") + look.get("sink") <= GATE);
        assertThat(looks.getLast().get("dropped")).isZero();
    }

    @Test
    void withoutControlTheQueueGrowsBeforeTheSlowest() throws InterruptedException {
        List<Map<String, Long>> looks = looks("none");
        assertThat(peak(looks, "sink")).isGreaterThan(2 * N);
        assertThat(looks.getLast().get("dropped")).isZero();
    }

    @Test
    void aSourceThatCannotBeSlowedLosesWhatTheBufferDoesNotHold() throws InterruptedException {
        List<Map<String, Long>> looks = looks("drop");
        assertThat(looks.getLast().get("dropped")).isPositive();
        assertThat(peak(looks, "door")).isLessThanOrEqualTo(BUFFER + 1);
    }

    /** It makes no more than the sink can take while it goes on, and what there is room for on the way. */
    @ParameterizedTest
    @CsvSource({"gate, 30", "request-n, 120"})
    void theSourceIsSlowedToTheSink(String control, int room) throws InterruptedException {
        long ms = RATES.lasts().toMillis() + MADE_UP_FOR_MS;
        assertThat(looks(control).getLast().get("produced")).isLessThanOrEqualTo(RATES.sink() * ms / 1000 + room);
    }

    @Test
    void theSourceHasItsTimeFromTheMomentAtWhichItIsAsked() {
        Duration lasts = Duration.ofMillis(20);
        Chain.Rates fast = new Chain.Rates(20_000, 20_000, 20_000, BATCH, lasts);
        try (Chain chain = new Chain(fast, new Control("gate", N, GATE, BUFFER).another())) {
            Mono<Void> run = chain.run();
            long later = System.nanoTime() + 2 * lasts.toNanos();
            while (System.nanoTime() < later) {
                LockSupport.parkNanos(later - System.nanoTime());
            }
            run.block();
            assertThat(chain.now().get("consumed")).isPositive();
        }
    }
}
