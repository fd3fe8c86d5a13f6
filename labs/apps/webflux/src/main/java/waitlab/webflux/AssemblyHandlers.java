package waitlab.webflux;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** When does a call run: while the chain is put together, or when somebody subscribes? The forms, side by side. */
@RestController
class AssemblyHandlers {

    private final OffloadPool offload;

    AssemblyHandlers(OffloadPool offload) {
        this.offload = offload;
    }

    /** What was seen of one form: its calls before anybody subscribed, and the thread on which the call ran. */
    record Seen(String form, int callsBeforeSubscribe, String ranOn) {}

    /** A call that counts how often it was made, and answers the thread that made it. */
    private static final class Call implements Callable<String> {

        private final AtomicInteger made = new AtomicInteger();

        @Override
        public String call() {
            made.incrementAndGet();
            return Thread.currentThread().getName();
        }
    }

    private record Form(String name, Function<Call, Mono<String>> assembly) {

        Mono<Seen> seen() {
            Call call = new Call();
            Mono<String> chain = assembly.apply(call);
            int before = call.made.get();
            return chain.map(ranOn -> new Seen(name, before, ranOn));
        }
    }

    /** All forms are assembled here and now, and then subscribed to from the same loop, one after another. */
    @GetMapping("/assembly")
    Mono<Map<String, List<Seen>>> forms() {
        List<Mono<Seen>> chains = all().stream().map(Form::seen).toList();
        return Flux.mergeSequential(chains).collectList().map(rows -> Map.of("rows", rows));
    }

    private List<Form> all() {
        return List.of(
                new Form("just(call())", this::just),
                new Form("just(call()).subscribeOn(offload)", this::justMoved),
                new Form("fromCallable(call)", this::fromCallable),
                new Form("fromCallable(call).subscribeOn(offload)", this::fromCallableMoved),
                new Form("defer(() -> just(call()))", this::defer));
    }

    private Mono<String> just(Call call) {
        // snippet: just
        return Mono.just(call.call());
        // end
    }

    private Mono<String> justMoved(Call call) {
        // snippet: just-moved
        return Mono.just(call.call()).subscribeOn(offload);
        // end
    }

    private Mono<String> fromCallable(Call call) {
        // snippet: from-callable
        return Mono.fromCallable(call::call);
        // end
    }

    private Mono<String> fromCallableMoved(Call call) {
        // snippet: from-callable-moved
        return Mono.fromCallable(call::call).subscribeOn(offload);
        // end
    }

    private Mono<String> defer(Call call) {
        // snippet: defer
        return Mono.defer(() -> Mono.just(call.call()));
        // end
    }
}
