package waitlab.shared;

import java.lang.management.ManagementFactory;
import java.util.Map;

/** What this JVM says about itself: the part of {@code /settings} that all apps share. */
public final class JvmFacts {

    private static final long MEBIBYTE = 1024 * 1024;

    private JvmFacts() {}

    /** Adds the JVM's limits and versions to the answer. */
    public static void addTo(Map<String, Object> settings) {
        settings.put("pid", ProcessHandle.current().pid());
        settings.put("available_processors", Runtime.getRuntime().availableProcessors());
        settings.put("heap_max_mb", Runtime.getRuntime().maxMemory() / MEBIBYTE);
        settings.put("gc", collector());
        settings.put("java", Runtime.version().toString());
        settings.put("monotonic_us", LabClock.nowUs());
    }

    private static String collector() {
        String first = ManagementFactory.getGarbageCollectorMXBeans().getFirst().getName();
        return switch (first.split(" ")[0]) {
            case "Copy" -> "serial";
            case "PS" -> "parallel";
            default -> first.split(" ")[0].toLowerCase(java.util.Locale.ROOT);
        };
    }
}
