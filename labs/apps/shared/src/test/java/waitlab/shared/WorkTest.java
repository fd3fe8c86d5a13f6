package waitlab.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkTest {

    private static final Duration BRIEF = Duration.ofMillis(1);

    private final List<Thread> callers = new CopyOnWriteArrayList<>();

    private void call(Duration wait) {
        callers.add(Thread.currentThread());
        Waits.sleep(wait);
    }

    @Test
    void asksForOneCallOfAHundredMilliseconds() {
        assertThat(Work.asked(Map.<String, String>of()::get))
                .isEqualTo(new Work(Duration.ofMillis(100), Duration.ZERO, 1, false));
    }

    @Test
    void readsWhatIsAsked() {
        Map<String, String> query = Map.of("ms", "7", "cpu_ms", "3", "calls", "4", "parallel", "true");
        assertThat(Work.asked(query::get)).isEqualTo(new Work(Duration.ofMillis(7), Duration.ofMillis(3), 4, true));
    }

    @ParameterizedTest
    @CsvSource({"ms,-1", "ms,60001", "cpu_ms,60001", "cpu_ms,1.5", "calls,0", "calls,101", "parallel,yes", "parallel,''"})
    void refusesABadValue(String name, String value) {
        assertThatThrownBy(() -> Work.asked(Map.of(name, value)::get))
                .isInstanceOf(BadValue.class)
                .hasMessageStartingWith(name + " must be ");
    }

    @Test
    void callsInTurnOnTheThreadOfTheRequest() {
        Work.Done done = new Work(BRIEF, Duration.ZERO, 3, false).on(this::call);
        assertThat(callers).hasSize(3).containsOnly(Thread.currentThread());
        assertThat(done.thread()).isEqualTo(Thread.currentThread().getName());
        assertThat(done.virtual()).isFalse();
        assertThat(done.endedUs() - done.startedUs()).isGreaterThanOrEqualTo(3_000);
    }

    @Test
    void callsAtOnceOnVirtualThreadsOfTheirOwn() {
        new Work(BRIEF, Duration.ZERO, 3, true).on(this::call);
        assertThat(callers).doesNotHaveDuplicates().hasSize(3).allMatch(Thread::isVirtual);
        assertThat(callers).allSatisfy(caller -> assertThat(caller.getName()).startsWith("call-"));
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void passesOnWhatACallThrows(boolean parallel) {
        Work work = new Work(BRIEF, Duration.ZERO, 2, parallel);
        assertThatThrownBy(() -> work.on(wait -> { throw new BadValue("No."); })).isInstanceOf(BadValue.class);
    }

    /** By the quietest of a few: what shares the processor makes the same rounds take longer. */
    @Test
    void burnsProcessorTimeAndNotTheClock() {
        Burn.processor(BRIEF);
        double least = IntStream.range(0, 9).mapToDouble(_ -> burntMs(Duration.ofMillis(50))).min().orElseThrow();
        assertThat(least).isBetween(25.0, 100.0);
    }

    private static double burntMs(Duration asked) {
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        Burn.processor(asked);
        return (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before) / 1e6;
    }
}
