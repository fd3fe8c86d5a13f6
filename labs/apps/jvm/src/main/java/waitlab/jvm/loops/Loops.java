package waitlab.jvm.loops;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import waitlab.jvm.Json;
import waitlab.jvm.Options;

/**
 * Event loops without a network: many requests at once, a few of which block. Prints a line for each request, in the
 * order in which they ended, and a last one with what was found out about this machine.
 */
public final class Loops {

    private Loops() {}

    /**
     * The experiment {@code loops}: {@code --where none|onloop|offload}, {@code --assignment random|shared|pinned},
     * {@code --hold park|spin}, {@code --loops}, {@code --requests}, {@code --blocking} (how many of them block),
     * {@code --offload_pool_size}, {@code --block_ms}, {@code --normal_us}, {@code --seed}.
     */
    public static void run(Options options) throws InterruptedException {
        Crowd crowd = new Crowd(options);
        options.nothingElse();
        double holdUs = crowd.gauge();
        long startUs = crowd.serve();
        List<Served> served = crowd.served();
        served.forEach(one -> Json.print(one.line()));
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("start_us", startUs);
        found.put("measured_hold_us", holdUs);
        found.put("served", served.size());
        found.putAll(crowd.limits());
        found.put("available_processors", Runtime.getRuntime().availableProcessors());
        found.put("java", Runtime.version().toString());
        Json.print(found);
    }
}
