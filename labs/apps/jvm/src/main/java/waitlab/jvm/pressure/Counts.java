package waitlab.jvm.pressure;

import java.util.LinkedHashMap;
import java.util.Map;

/** How far the items have come, counted at every step of their way; all counts are read at one moment. */
final class Counts {

    /** The steps of an item's way, from the source to the end, or to where it was dropped. */
    enum Step { PRODUCED, DROPPED, ADMITTED, TAKEN, TRANSFORMED, DRAINED, CONSUMED }

    private final long[] counted = new long[Step.values().length];
    private final int batch;

    Counts(int batch) {
        this.batch = batch;
    }

    /** This many items have come so far. */
    synchronized void add(Step step, int items) {
        counted[step.ordinal()] += items;
    }

    /** How many items wait: at the door, before each stage; and how far the source and the sink have come. */
    synchronized Map<String, Long> now() {
        long made = of(Step.TRANSFORMED);
        long inBatches = Math.max(of(Step.DRAINED), made - made % batch);
        Map<String, Long> found = new LinkedHashMap<>();
        found.put("door", of(Step.PRODUCED) - of(Step.DROPPED) - of(Step.ADMITTED));
        found.put("transform", of(Step.ADMITTED) - of(Step.TAKEN));
        found.put("batch", made - inBatches);
        found.put("sink", inBatches - of(Step.DRAINED));
        found.put("produced", of(Step.PRODUCED));
        found.put("consumed", of(Step.CONSUMED));
        found.put("dropped", of(Step.DROPPED));
        return found;
    }

    private long of(Step step) {
        return counted[step.ordinal()];
    }
}
