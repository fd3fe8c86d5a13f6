package waitlab.jvm.loops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import waitlab.jvm.Options;
import waitlab.shared.BadValue;
import waitlab.shared.LabClock;

/** Which thread serves whom; how long that takes is a matter for the chapter. */
class CrowdTest {

    private static Crowd crowd(String... more) {
        String[] given = ("loops --loops 3 --requests 60 --blocking 6 --block_ms 20 --normal_us 50 "
                        + String.join(" ", more))
                .trim()
                .split(" ");
        return new Crowd(Options.of(given, Map.of()));
    }

    private static List<Served> served(String... more) throws InterruptedException {
        Crowd crowd = crowd(more);
        crowd.serve();
        return crowd.served();
    }

    @ParameterizedTest
    @CsvSource({"none,shared", "none,pinned", "onloop,shared", "onloop,random", "offload,pinned", "offload,shared"})
    void everyoneIsServedOnce(String where, String assignment) throws InterruptedException {
        List<Served> served = served("--where", where, "--assignment", assignment);
        assertThat(served).extracting(one -> one.request().index()).hasSize(60).doesNotHaveDuplicates();
        assertThat(served).filteredOn(one -> one.request().blocking()).hasSize(6);
    }

    @Test
    void aBlockHoldsItsLoop() throws InterruptedException {
        assertThat(served("--where", "onloop", "--assignment", "pinned"))
                .allMatch(one -> one.thread().equals("loop-" + (one.request().index() % 3 + 1)))
                .filteredOn(one -> one.request().blocking())
                .allMatch(one -> one.endedUs() - one.startedUs() >= 20_000);
    }

    @Test
    void aMovedBlockHoldsAThreadOfThePool() throws InterruptedException {
        List<Served> served = served("--where", "offload", "--offload_pool_size", "2");
        assertThat(served).allMatch(one -> one.thread().startsWith(one.request().blocking() ? "offload-" : "loop-"));
        assertThat(served).filteredOn(one -> one.request().blocking()).extracting(Served::thread).isSubsetOf(
                "offload-1", "offload-2");
    }

    @Test
    void nothingBlocksWhereNothingShall() throws InterruptedException {
        assertThat(served("--where", "none")).allMatch(one -> one.thread().startsWith("loop-"));
    }

    @Test
    void aLoopServesOneAfterAnother() throws InterruptedException {
        List<Served> one = served("--where", "onloop", "--assignment", "pinned").stream()
                .filter(served -> served.thread().equals("loop-1"))
                .toList();
        assertThat(one).extracting(served -> served.request().index()).isSorted();
        for (int i = 1; i < one.size(); i++) {
            assertThat(one.get(i).startedUs()).isGreaterThanOrEqualTo(one.get(i - 1).endedUs());
        }
    }

    @Test
    void theStartIsBeforeAllAndTheHoldIsNoShorterThanAsked() throws InterruptedException {
        long before = LabClock.nowUs();
        Crowd crowd = crowd("--hold", "park");
        assertThat(crowd.gauge()).isGreaterThanOrEqualTo(49);
        long start = crowd.serve();
        assertThat(start).isGreaterThanOrEqualTo(before);
        assertThat(crowd.served()).allMatch(one -> one.startedUs() >= start && one.endedUs() >= one.startedUs() + 49
                || one.request().blocking());
    }

    @Test
    void spinningServesThemToo() throws InterruptedException {
        assertThat(served("--hold", "spin", "--where", "none")).hasSize(60);
    }

    @Test
    void refusesWhatItDoesNotKnow() {
        assertThatThrownBy(() -> crowd("--where", "elsewhere")).isInstanceOf(BadValue.class);
        assertThatThrownBy(() -> crowd("--assignment", "dealt")).isInstanceOf(BadValue.class);
        assertThatThrownBy(() -> new Crowd(Options.of(
                        new String[] {"loops", "--requests", "5", "--blocking", "6"}, Map.of())))
                .isInstanceOf(BadValue.class)
                .hasMessageContaining("blocking must be a whole number from 0 to 5");
    }
}
