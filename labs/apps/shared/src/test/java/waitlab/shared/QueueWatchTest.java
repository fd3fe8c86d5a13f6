package waitlab.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QueueWatchTest {

    private static final int SOME_LOOKS = 3;

    private final AtomicInteger length = new AtomicInteger(7);
    private final QueueWatch watch = new QueueWatch().with("line", length::get);

    @AfterEach
    void end() {
        watch.close();
    }

    private long[] seen(String name) {
        return (long[]) ((Map<?, ?>) watch.answer().get("series")).get(name);
    }

    private long max(String name) {
        return Arrays.stream(seen(name)).max().orElseThrow();
    }

    private void untilSeen(int looks) {
        long deadline = LabClock.nowUs() + 10_000_000;
        while (seen("line").length < looks && LabClock.nowUs() < deadline) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    void looksAtNothingUntilItIsStarted() {
        assertThat(seen("line")).isEmpty();
    }

    @Test
    void keepsWhatItSawWithTheTimeOfEachLook() {
        watch.start("60");
        untilSeen(SOME_LOOKS);
        length.set(9);
        untilSeen(seen("line").length + 2);
        watch.close();
        assertThat(seen("line")).startsWith(7, 7).contains(9);
        assertThat((long[]) watch.answer().get("at_us")).isSorted().hasSameSizeAs(seen("line"));
    }

    @Test
    void forgetsAtEveryStart() {
        watch.start(null);
        untilSeen(SOME_LOOKS);
        length.set(1);
        watch.start(null);
        untilSeen(SOME_LOOKS);
        assertThat(seen("line")).containsOnly(1);
    }

    @Test
    void countsTheProcessorsTimeUpwards() {
        watch.start(null);
        long start = System.nanoTime();
        while (System.nanoTime() - start < 50_000_000) {
            Thread.onSpinWait();
        }
        untilSeen(SOME_LOOKS);
        watch.close();
        long[] own = seen("cpu_us");
        assertThat(own[own.length - 1]).isGreaterThan(own[0]);
        assertThat(max("machine_busy_ticks")).isLessThanOrEqualTo(max("machine_ticks"));
    }

    @Test
    void addsUpTheKernelsCounts() {
        String line = "cpu  10 20 30 400 50 6 7 8 9 9";
        assertThat(Processors.counted(line, true)).isEqualTo(10 + 20 + 30 + 400 + 50 + 6 + 7 + 8);
        assertThat(Processors.counted(line, false)).isEqualTo(10 + 20 + 30 + 6 + 7 + 8);
        assertThat(Processors.counted("", true)).isEqualTo(Processors.UNKNOWN);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "901", "-1", "1.5", "soon", ""})
    void lastsNoLongerThanItMay(String seconds) {
        assertThatThrownBy(() -> watch.start(seconds)).isInstanceOf(BadValue.class).hasMessageContaining("seconds");
    }
}
