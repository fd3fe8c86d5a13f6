package waitlab.jvm.loops;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Queue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DealerTest {

    private static List<Integer> indices(Queue<Request> queue) {
        return queue.stream().map(Request::index).toList();
    }

    private static int loopOf(int index, List<Queue<Request>> queues) {
        return IntStream.range(0, queues.size())
                .filter(loop -> indices(queues.get(loop)).contains(index))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void allLoopsShareOneQueue() {
        List<Queue<Request>> queues = Dealer.deal("shared", 3, 5, 1, 1);
        assertThat(queues).hasSize(3).allMatch(queue -> queue == queues.getFirst());
        assertThat(indices(queues.getFirst())).containsExactly(0, 1, 2, 3, 4);
    }

    @Test
    void pinnedIsDealtInTurn() {
        List<Queue<Request>> queues = Dealer.deal("pinned", 3, 7, 1, 1);
        assertThat(indices(queues.get(0))).containsExactly(0, 3, 6);
        assertThat(indices(queues.get(2))).containsExactly(2, 5);
    }

    /** The same numbers stand in the test of the Python half, which must know the draw beforehand. */
    @Test
    void theDrawIsKnownBeforehand() {
        List<Queue<Request>> queues = Dealer.deal("random", 8, 12, 0, 3);
        assertThat(IntStream.range(0, 12).map(index -> loopOf(index, queues)))
                .containsExactly(5, 1, 1, 7, 6, 7, 0, 6, 2, 2, 4, 7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shared", "pinned", "random"})
    void everyRequestIsDealtOnceInItsOrder(String assignment) {
        List<Queue<Request>> queues = Dealer.deal(assignment, 8, 2_000, 20, 7);
        List<Integer> all = queues.stream().distinct().flatMap(queue -> indices(queue).stream()).toList();
        assertThat(all).hasSize(2_000).doesNotHaveDuplicates();
        assertThat(queues).allSatisfy(queue -> assertThat(indices(queue)).isSorted());
    }

    @Test
    void blocksAreSpreadEvenly() {
        assertThat(IntStream.range(0, 2_000).filter(index -> Request.blocks(index, 20, 2_000)))
                .hasSize(20)
                .allMatch(index -> index % 100 == 99);
        assertThat(IntStream.range(0, 7).filter(index -> Request.blocks(index, 7, 7))).hasSize(7);
        assertThat(IntStream.range(0, 7).filter(index -> Request.blocks(index, 0, 7))).isEmpty();
    }
}
