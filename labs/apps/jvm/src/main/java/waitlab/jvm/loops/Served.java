package waitlab.jvm.loops;

import java.util.LinkedHashMap;
import java.util.Map;
import waitlab.shared.LabClock;

/** A request that was served: by which thread, and from when to when it held it (microseconds, {@link LabClock}). */
record Served(Request request, String thread, long startedUs, long endedUs) {

    /** Holds the calling thread, and says for how long that was. */
    static Served here(Request request, Hold hold) {
        long started = LabClock.nowUs();
        hold.on();
        return new Served(request, Thread.currentThread().getName(), started, LabClock.nowUs());
    }

    Map<String, Object> line() {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("series", request.series());
        line.put("index", request.index());
        line.put("thread", thread);
        line.put("started_us", startedUs);
        line.put("ended_us", endedUs);
        return line;
    }
}
