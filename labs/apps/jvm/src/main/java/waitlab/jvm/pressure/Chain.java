package waitlab.jvm.pressure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import waitlab.jvm.pressure.Counts.Step;

/** Source, transform, batch, sink: each but the batch on a thread of its own, with counters between them. */
final class Chain implements AutoCloseable {

    /** Items a second of each stage; how many make a batch; how long the source goes on. */
    record Rates(int source, int transform, int sink, int batch, Duration lasts) {}

    private final Scheduler source = Schedulers.newSingle("source", true);
    private final Scheduler transforming = Schedulers.newSingle("transform", true);
    private final Scheduler sinking = Schedulers.newSingle("sink", true);

    private final Rates rates;
    private final Control control;
    private final Counts counts;
    private final Pace sourcePace;
    private final Pace transformPace;
    private final Pace sinkPace;
    private volatile long producedNs;

    Chain(Rates rates, Control control) {
        this.rates = rates;
        this.control = control;
        counts = new Counts(rates.batch());
        sourcePace = new Pace(rates.source());
        transformPace = new Pace(rates.transform());
        sinkPace = new Pace(rates.sink());
    }

    /** The whole chain; it completes when the sink has seen the last item. */
    Mono<Void> run() {
        int n = control.asksFor();
        int batch = rates.batch();
        // snippet: pressure
        return door()
                .publishOn(transforming, n)
                .map(this::transform)
                .buffer(batch)
                .publishOn(sinking, Math.max(1, n / batch))
                .doOnNext(this::sink)
                .then();
        // end
    }

    /** The source on its thread, and whatever the control puts at the door. */
    private Flux<Long> door() {
        return control.atTheDoor(items().subscribeOn(source), counts).doOnNext(_ -> counts.add(Step.ADMITTED, 1));
    }

    /** Makes an item when it is asked for one, and never more in a second than the source can; its time starts here. */
    private Flux<Long> items() {
        return Flux.generate(() -> System.nanoTime() + rates.lasts().toNanos(), (Long end, SynchronousSink<Long> next) -> {
            control.enter();
            sourcePace.take(1);
            if (System.nanoTime() >= end) {
                next.complete();
            } else {
                producedNs = System.nanoTime();
                counts.add(Step.PRODUCED, 1);
                next.next(producedNs);
            }
            return end;
        });
    }

    private Long transform(Long item) {
        counts.add(Step.TAKEN, 1);
        transformPace.take(1);
        counts.add(Step.TRANSFORMED, 1);
        return item;
    }

    private void sink(List<Long> items) {
        counts.add(Step.DRAINED, items.size());
        sinkPace.take(items.size());
        counts.add(Step.CONSUMED, items.size());
        control.leave(items.size());
    }

    /** Where the items are now. */
    Map<String, Long> now() {
        return counts.now();
    }

    /** When the source made its last item, on the machine's monotonic clock. */
    long producedNs() {
        return producedNs;
    }

    @Override
    public void close() {
        List.of(source, transforming, sinking).forEach(Scheduler::dispose);
    }
}
