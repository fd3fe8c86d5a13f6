package waitlab.jvm;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import waitlab.shared.BadValue;

/** As much of JSON as these experiments need: any value is written, flat objects are read. */
public final class Json {

    private static final char FIRST_PRINTABLE = 0x20;
    private static final String PAIR = "\\s*\"(\\w{1,40})\"\\s*:\\s*(\"[^\"]*\"|[^\\s,{}\\[\\]\"]+)\\s*";
    private static final Pattern NEXT = Pattern.compile(PAIR);
    private static final Pattern FLAT = Pattern.compile("\\s*\\{(\\s*|" + PAIR + "(," + PAIR + ")*)\\}\\s*");
    private static final Pattern WHOLE = Pattern.compile("-?[0-9]{1,9}");

    private Json() {}

    /** Prints one object as a line of its own. */
    public static void print(Map<String, ?> object) {
        printText(written(object));
    }

    /** Prints an object that is written already. */
    public static synchronized void printText(String object) {
        System.out.println(object);
        System.out.flush();
    }

    /** The text of a map, an iterable, a number, a boolean or null; of anything else, its name in quotes. */
    public static String written(Object value) {
        return switch (value) {
            case null -> "null";
            case Number number -> number.toString();
            case Boolean yes -> yes.toString();
            case Map<?, ?> map -> map.entrySet().stream()
                    .map(e -> quoted(e.getKey().toString()) + ":" + written(e.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
            case Iterable<?> items -> StreamSupport.stream(items.spliterator(), false)
                    .map(Json::written)
                    .collect(Collectors.joining(",", "[", "]"));
            default -> quoted(value.toString());
        };
    }

    /** An object of names and single values: whole numbers become integers, all else stays text. */
    public static Map<String, Object> flat(String text) {
        if (!FLAT.matcher(text).matches()) {
            throw new BadValue("The request's body must be a JSON object.");
        }
        Map<String, Object> read = new LinkedHashMap<>();
        Matcher pairs = NEXT.matcher(text);
        while (pairs.find()) {
            String value = pairs.group(2);
            read.put(pairs.group(1), WHOLE.matcher(value).matches() ? (Object) Integer.valueOf(value) : value);
        }
        return read;
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            switch (c) {
                case '"', '\\' -> quoted.append('\\').append(c);
                default -> quoted.append(c < FIRST_PRINTABLE ? "\\u%04x".formatted((int) c) : c);
            }
        }
        return quoted.append('"').toString();
    }
}
