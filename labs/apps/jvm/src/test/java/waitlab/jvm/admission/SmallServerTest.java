package waitlab.jvm.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class SmallServerTest {

    private final SmallServer server = new SmallServer(50, 1_000, Duration.ofMillis(20));

    @Test
    void upToItsCapacityNobodyIsSlowed() {
        assertThat(server.among(1)).isEqualTo(Duration.ofMillis(20));
        assertThat(server.among(50)).isEqualTo(Duration.ofMillis(20));
    }

    @Test
    void aboveItTheWorkIsSharedAndTheCrowdRubs() {
        assertThat(server.among(100)).isEqualTo(Duration.ofMillis(44));
        assertThat(server.among(200)).isEqualTo(Duration.ofMillis(104));
        assertThat(server.among(1_000)).isEqualTo(Duration.ofMillis(1_160));
    }

    @Test
    void aboveItsLimitItRefuses() throws InterruptedException {
        SmallServer small = new SmallServer(2, 5, Duration.ofMillis(200));
        AtomicInteger refused = new AtomicInteger();
        AtomicInteger served = new AtomicInteger();
        var callers = IntStream.range(0, 40)
                .mapToObj(_ -> Thread.ofVirtual().start(() -> {
                    try {
                        small.call();
                        served.incrementAndGet();
                    } catch (Downstream.Refused full) {
                        refused.incrementAndGet();
                    } catch (InterruptedException stopped) {
                        Thread.currentThread().interrupt();
                    }
                }))
                .toList();
        for (Thread caller : callers) {
            caller.join();
        }
        assertThat(served.get()).isGreaterThanOrEqualTo(5);
        assertThat(refused.get()).isPositive();
        assertThat(served.get() + refused.get()).isEqualTo(40);
    }
}
