package waitlab.jvm.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import waitlab.jvm.Options;
import waitlab.jvm.admission.Ledger.End;

/** Which requests get a thread, and when: the downstream answers nobody until the test says so. */
@Timeout(60)
class RushTest {

    private static final int MANY = HeldRun.MANY;

    @Test
    void aPoolTakesAnyNumberAndServesAsManyAsItHasThreads() throws InterruptedException {
        HeldRun run = new HeldRun("--threads", "fixed", "--pool_size", "7");
        run.until(7);
        run.letGo();
        assertThat(run.rush.live().peak()).isEqualTo(7);
        assertThat(run.ledger.count(End.OK)).isEqualTo(MANY);
        assertThat(run.rush.poolSize()).isEqualTo(7);
    }

    @Test
    void virtualThreadsAreAsManyAsThereAreRequests() throws InterruptedException {
        HeldRun run = new HeldRun("--threads", "virtual");
        run.until(MANY);
        run.letGo();
        assertThat(run.rush.live().peak()).isEqualTo(MANY);
        assertThat(run.rush.poolSize()).isZero();
    }

    @Test
    void aGateBeforeTheThreadsLimitsThem() throws InterruptedException {
        HeldRun run = new HeldRun("--threads", "virtual", "--gate", "9");
        run.until(9);
        run.letGo();
        assertThat(run.rush.live().peak()).isEqualTo(9);
        assertThat(run.ledger.count(End.OK)).isEqualTo(MANY);
    }

    @Test
    void aGateBehindTheThreadsDoesNot() throws InterruptedException {
        HeldRun run = new HeldRun("--threads", "virtual", "--gate", "9", "--gate_at", "inside");
        run.until(MANY);
        run.untilCalled(9);
        assertThat(run.downstream.called.get()).isEqualTo(9);
        run.letGo();
        assertThat(run.rush.live().peak()).isEqualTo(MANY);
    }

    @Test
    void aFullGateThatRejectsDropsAllOthersAtOnce() throws InterruptedException {
        HeldRun run = new HeldRun("--threads", "virtual", "--gate", "9", "--on_full", "reject");
        run.untilRejected(MANY - 9);
        assertThat(run.ledger.count(End.OK)).isZero();
        run.letGo();
        assertThat(run.ledger.count(End.OK)).isEqualTo(9);
        assertThat(run.rush.live().peak()).isEqualTo(9);
    }

    @Test
    void eachRequestIsToldOnceWithItsEnd() throws InterruptedException {
        HeldRun run = new HeldRun("--threads", "fixed", "--pool_size", "3");
        run.letGo();
        List<Integer> told = numbers(run.ledger.news());
        List<Integer> indices = IntStream.range(0, MANY).mapToObj(i -> told.get(5 * i)).sorted().toList();
        assertThat(indices).isEqualTo(IntStream.range(0, MANY).boxed().toList());
        assertThat(IntStream.range(0, MANY).mapToObj(i -> told.get(5 * i + 2))).isSubsetOf(1, 2, 3);
        assertThat(IntStream.range(0, MANY).allMatch(i -> told.get(5 * i + 3) <= told.get(5 * i + 4))).isTrue();
        assertThat(run.ledger.news()).isEqualTo("[]");
    }

    @Test
    void whatAFailingDownstreamLeavesIsCounted() throws InterruptedException {
        Plan plan = Plan.of(Options.of(new String[] {"admission", "--requests", "20"}, java.util.Map.of()));
        Ledger ledger = new Ledger(plan.requests());
        try (Rush rush = new Rush(plan, new Broken(), ledger)) {
            rush.serve();
        }
        assertThat(ledger.count(End.FAILED)).isEqualTo(20);
    }

    private static List<Integer> numbers(String list) {
        return List.of(list.substring(1, list.length() - 1).split(",")).stream().map(Integer::valueOf).toList();
    }

    /** A downstream that always fails. */
    private static final class Broken implements Downstream {

        @Override
        public long call() {
            throw new IllegalStateException("broken on purpose");
        }

        @Override
        public int capacity() {
            return 1;
        }
    }
}
