package waitlab.shared;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/** How long a request may ask to wait: the one place where query parameters become durations. */
public final class Waits {

    /** No request waits longer than this. */
    public static final Duration LONGEST = Duration.ofSeconds(60);

    private static final Duration USUAL = Duration.ofSeconds(2);
    private static final Pattern WHOLE = Pattern.compile("[0-9]{1,9}");
    private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,6}(\\.[0-9]{1,6})?");

    private Waits() {}

    /** The parameter {@code ms}: whole milliseconds; 2,000 when it is not given. */
    public static Duration ofMillis(String ms) {
        if (ms == null) {
            return USUAL;
        }
        if (!WHOLE.matcher(ms).matches() || Long.parseLong(ms) > LONGEST.toMillis()) {
            throw new BadValue("ms must be a whole number of milliseconds from 0 to " + LONGEST.toMillis()
                    + ", but was '" + Text.shown(ms) + "'.");
        }
        return Duration.ofMillis(Long.parseLong(ms));
    }

    /** A parameter that is a whole number from {@code smallest} to {@code largest}; {@code usual} when not given. */
    public static int whole(String name, String value, int usual, int smallest, int largest) {
        if (value == null) {
            return usual;
        }
        if (!WHOLE.matcher(value).matches() || Integer.parseInt(value) < smallest || Integer.parseInt(value) > largest) {
            throw new BadValue(name + " must be a whole number from " + smallest + " to " + largest + ", but was '"
                    + Text.shown(value) + "'.");
        }
        return Integer.parseInt(value);
    }

    /** A parameter that is one of these words; {@code usual} when not given. */
    public static String word(String name, String value, String usual, String... words) {
        if (value == null) {
            return usual;
        }
        if (!List.of(words).contains(value)) {
            throw new BadValue(
                    name + " must be one of " + String.join(", ", words) + ", but was '" + Text.shown(value) + "'.");
        }
        return value;
    }

    /** The parameter {@code s}: seconds, with up to six decimals; 2 when it is not given. */
    public static Duration ofSeconds(String s) {
        if (s == null) {
            return USUAL;
        }
        if (!DECIMAL.matcher(s).matches() || Double.parseDouble(s) > LONGEST.toSeconds()) {
            throw new BadValue("s must be a number of seconds from 0 to " + LONGEST.toSeconds()
                    + ", but was '" + Text.shown(s) + "'.");
        }
        return Duration.ofNanos(Math.round(Double.parseDouble(s) * 1e9));
    }

    /** A duration as PostgreSQL's {@code pg_sleep} takes it. */
    public static double inSeconds(Duration wait) {
        return wait.toNanos() / 1e9;
    }

    /** Sleeps on the calling thread, as blocking code does. */
    public static void sleep(Duration wait) {
        try {
            Thread.sleep(wait);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("The sleep was interrupted.", stopped);
        }
    }
}
