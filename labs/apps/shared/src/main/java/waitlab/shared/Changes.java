package waitlab.shared;

import java.util.LinkedHashMap;
import java.util.Map;

/** The limits that can change while an app runs: their ranges, and how a request to change them is read. */
public final class Changes {

    private final Map<String, Limit> limits = new LinkedHashMap<>();

    private record Limit(int smallest, int largest, Setter setter) {}

    /** Puts a new value in force. */
    @FunctionalInterface
    public interface Setter {
        void set(int value);
    }

    /** Adds a limit that takes whole numbers from 1 to {@code largest}. */
    public Changes allow(String name, int largest, Setter setter) {
        return allow(name, 1, largest, setter);
    }

    /** Adds a limit that takes whole numbers from {@code smallest} to {@code largest}. */
    public Changes allow(String name, int smallest, int largest, Setter setter) {
        limits.put(name, new Limit(smallest, largest, setter));
        return this;
    }

    /** Checks every value of the request first; changes all or nothing. */
    public void apply(Map<String, ?> wanted) {
        if (wanted.isEmpty()) {
            throw new BadValue("Nothing to change: name at least one of " + String.join(", ", limits.keySet()) + ".");
        }
        wanted.forEach(this::check);
        wanted.forEach((name, value) -> limits.get(name).setter().set((Integer) value));
    }

    private void check(String name, Object value) {
        Limit limit = limits.get(name);
        if (limit == null) {
            throw new BadValue("'" + Text.shown(name) + "' cannot change while the server runs; these can: "
                    + String.join(", ", limits.keySet()) + ".");
        }
        if (!(value instanceof Integer number) || number < limit.smallest() || number > limit.largest()) {
            throw new BadValue(name + " must be a whole number from " + limit.smallest() + " to " + limit.largest()
                    + ", but was " + (value instanceof String ? "text" : Text.shown(value)) + ".");
        }
    }
}
