package waitlab.mvc.trains;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** What became of every request for the board since the breaker was made: counted, and one line each. */
final class BoardLog {

    private static final int MOST_LINES = 20_000;

    private final List<Line> lines = new ArrayList<>();
    private int calls;
    private int timeouts;
    private int failed;

    /** One request; {@code source} is fresh, stale or none, {@code ageMs} is null where nothing was shown. */
    record Line(long startedUs, double ms, String source, boolean refused, Double ageMs) {}

    synchronized void called() {
        calls++;
    }

    synchronized void failed(boolean late) {
        if (late) {
            timeouts++;
        } else {
            failed++;
        }
    }

    synchronized void answered(Line line) {
        if (lines.size() < MOST_LINES) {
            lines.add(line);
        }
    }

    /** Adds the counts and the lines to an answer. */
    synchronized void addTo(Map<String, Object> answer) {
        answer.put("calls", calls);
        answer.put("fresh", count("fresh"));
        answer.put("stale_served", count("stale"));
        answer.put("refused_by_breaker", lines.stream().filter(Line::refused).count());
        answer.put("timeouts", timeouts);
        answer.put("failed", failed);
        Map<String, Object> columns = new LinkedHashMap<>();
        columns.put("started_us", column(Line::startedUs));
        columns.put("ms", column(Line::ms));
        columns.put("source", column(Line::source));
        columns.put("refused", column(Line::refused));
        columns.put("age_ms", column(Line::ageMs));
        answer.put("answers", columns);
    }

    private long count(String source) {
        return lines.stream().filter(line -> source.equals(line.source())).count();
    }

    private List<Object> column(Function<Line, Object> part) {
        return new ArrayList<>(lines.stream().map(part).toList());
    }
}
