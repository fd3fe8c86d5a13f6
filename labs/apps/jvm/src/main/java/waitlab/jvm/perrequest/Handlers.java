package waitlab.jvm.perrequest;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import waitlab.shared.BadValue;
import waitlab.shared.Changes;
import waitlab.shared.Guard;
import waitlab.shared.JvmFacts;
import waitlab.shared.ThreadPeaks;
import waitlab.shared.Waits;
import waitlab.shared.Work;

/** What the server answers to which path; the same paths and fields as the app on Tomcat. */
final class Handlers {

    private static final Work NOTHING = new Work(Duration.ZERO, Duration.ZERO, 0, false);

    private final Workers workers;
    private final Guard guard;
    private final Map<String, Object> fixed;
    private final ThreadPeaks peaks = new ThreadPeaks(name -> name.startsWith("worker-"));
    private final Changes changes;

    /** {@code fixed} are the settings that do not change while the server runs. */
    Handlers(Workers workers, Guard guard, Map<String, Object> fixed) {
        this.workers = workers;
        this.guard = guard;
        this.fixed = fixed;
        changes = new Changes().allow("pool_size", Workers.LARGEST, workers::resize);
    }

    /** Answers anything. */
    Answer all(Request request) {
        return guarded(request, () -> request.path().equals("/work") ? work(request) : question(request));
    }

    /** Answers questions about the server and changes of it, and does no work. */
    Answer control(Request request) {
        return guarded(request, () -> question(request));
    }

    private Answer guarded(Request request, Supplier<Answer> handler) {
        Map<String, String> headers = request.headers();
        return guard.refusal(
                        request.method(),
                        headers.get("host"),
                        headers.get("origin"),
                        headers.get("x-lab-token"))
                .map(why -> Answer.failed(403, why))
                .orElseGet(() -> Answer.by(handler));
    }

    private Answer work(Request request) {
        if (!request.query().getOrDefault("downstream", "sleep").equals("sleep")) {
            throw new BadValue("downstream must be sleep on this server: it has no database.");
        }
        return done(Work.asked(request.query()::get));
    }

    private static Answer done(Work work) {
        Work.Done done = work.on(Waits::sleep);
        return Answer.ok(fields("thread", done.thread(), "virtual", done.virtual(),
                "started_us", done.startedUs(), "ended_us", done.endedUs()));
    }

    private Answer question(Request request) {
        return switch (request.method() + " " + request.path()) {
            case "GET /fast" -> done(NOTHING);
            case "GET /settings" -> Answer.ok(settings());
            case "PUT /settings" -> change(request);
            case "GET /threads/peak" -> Answer.ok(peaks.answer(workers.peak()));
            case "DELETE /threads/peak" -> startCounting();
            default -> Answer.failed(404, "Not Found.");
        };
    }

    private Map<String, Object> settings() {
        Map<String, Object> settings = fields("app", "plain");
        JvmFacts.addTo(settings);
        settings.putAll(fixed);
        settings.put("pool_size", workers.size());
        settings.put("workers", workers.alive());
        settings.put("workers_busy", workers.busy());
        settings.put("platform_threads", ThreadPeaks.now());
        return settings;
    }

    private Answer change(Request request) {
        changes.apply(request.object());
        return Answer.ok(settings());
    }

    private Answer startCounting() {
        workers.shedIdle();
        workers.resetPeak();
        peaks.reset(workers::alive);
        return Answer.ok(peaks.answer(workers.peak()));
    }

    private static Map<String, Object> fields(Object... namesAndValues) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put(namesAndValues[i].toString(), namesAndValues[i + 1]);
        }
        return fields;
    }
}
