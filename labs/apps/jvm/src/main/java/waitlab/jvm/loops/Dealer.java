package waitlab.jvm.loops;

import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Which queue a request is put into: each loop has one of its own, or all loops take from the same. */
final class Dealer {

    private Dealer() {}

    /** A queue for each loop, filled with the requests in their order; with {@code shared} it is the same queue. */
    static List<Queue<Request>> deal(String assignment, int loops, int requests, int blocking, long seed) {
        if (assignment.equals("shared")) {
            Queue<Request> shared = fill(new ConcurrentLinkedQueue<>(), IntStream.range(0, requests), blocking, requests);
            return Stream.generate(() -> shared).limit(loops).toList();
        }
        int[] loopOf = IntStream.range(0, requests).map(loopOf(assignment, loops, seed)).toArray();
        return IntStream.range(0, loops)
                .mapToObj(loop -> fill(
                        new ConcurrentLinkedQueue<>(),
                        IntStream.range(0, requests).filter(index -> loopOf[index] == loop),
                        blocking,
                        requests))
                .toList();
    }

    /** The loop of the request of an index: in turn, or drawn; the indices must come in ascending order. */
    private static IntUnaryOperator loopOf(String assignment, int loops, long seed) {
        if (assignment.equals("pinned")) {
            return index -> index % loops;
        }
        SplittableRandom draw = new SplittableRandom(seed);
        return _ -> (int) Long.remainderUnsigned(draw.nextLong(), loops);
    }

    private static Queue<Request> fill(Queue<Request> queue, IntStream indices, int blocking, int requests) {
        indices.forEach(index -> queue.add(new Request(index, Request.blocks(index, blocking, requests))));
        return queue;
    }
}
