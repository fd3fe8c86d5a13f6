package waitlab.jvm.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class GateTest {

    @Test
    void noGateLetsEverybodyIn() throws InterruptedException {
        Gate none = Gate.of(0, true);
        for (int i = 0; i < 1_000; i++) {
            assertThat(none.enter()).isTrue();
        }
        assertThat(none.width()).isZero();
    }

    @Test
    void whoFindsItFullIsTurnedAwayUntilSomebodyLeaves() throws InterruptedException {
        Gate gate = Gate.of(2, true);
        assertThat(gate.enter()).isTrue();
        assertThat(gate.enter()).isTrue();
        assertThat(gate.enter()).isFalse();
        gate.leave();
        assertThat(gate.enter()).isTrue();
    }

    @Test
    void orWaitsUntilSomebodyLeaves() throws InterruptedException {
        Gate gate = Gate.of(1, false);
        gate.enter();
        CountDownLatch inside = new CountDownLatch(1);
        Thread next = Thread.ofVirtual().start(() -> {
            try {
                gate.enter();
                inside.countDown();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
        while (next.getState() != Thread.State.WAITING) {
            Thread.yield();
        }
        assertThat(inside.getCount()).isOne();
        gate.leave();
        inside.await();
        next.join();
    }
}
