package waitlab.shared;

/** Text that came from outside, made fit to be repeated in a sentence. */
final class Text {

    private static final int LONGEST = 40;

    private Text() {}

    /** Printable characters only, and not many of them. */
    static String shown(Object value) {
        String plain = String.valueOf(value).replaceAll("[^\\x20-\\x7E]", "?");
        return plain.length() <= LONGEST ? plain : plain.substring(0, LONGEST) + "...";
    }
}
