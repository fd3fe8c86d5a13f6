package waitlab.jvm.perrequest;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import waitlab.jvm.Json;
import waitlab.shared.BadValue;
import waitlab.shared.Waits;

/** One HTTP request, as much of it as a client of the lab sends; {@code length} is its size in bytes. */
record Request(
        String method,
        String path,
        Map<String, String> query,
        Map<String, String> headers,
        String body,
        boolean old,
        int length) {

    private static final String END_OF_HEAD = "\r\n\r\n";
    private static final int PARTS = 3;

    /** The first whole request in what has arrived; null while a part of it is missing. */
    static Request first(byte[] arrived, int count) {
        String text = new String(arrived, 0, count, StandardCharsets.ISO_8859_1);
        int end = text.indexOf(END_OF_HEAD);
        if (end < 0) {
            return null;
        }
        String[] lines = text.substring(0, end).split("\r\n");
        Map<String, String> headers = headers(lines);
        int begins = end + END_OF_HEAD.length();
        int ends = begins + bodyLength(headers, arrived.length - begins);
        return ends > count ? null : of(lines[0], headers, text.substring(begins, ends), ends);
    }

    private static Request of(String line, Map<String, String> headers, String body, int length) {
        String[] parts = line.split(" ");
        if (parts.length != PARTS || !parts[1].startsWith("/")) {
            throw new BadValue("This is not a request that a web server understands.");
        }
        String[] target = parts[1].split("\\?", 2);
        Map<String, String> query = target.length == 1 ? Map.of() : query(target[1]);
        return new Request(parts[0], target[0], query, headers, body, parts[2].equals("HTTP/1.0"), length);
    }

    /** Whether the client wants the connection to stay open after the answer. */
    boolean keepsAlive() {
        String wish = headers.getOrDefault("connection", "").toLowerCase(Locale.ROOT);
        return old ? wish.equals("keep-alive") : !wish.equals("close");
    }

    /** The body as a flat JSON object. */
    Map<String, Object> object() {
        return Json.flat(body);
    }

    private static int bodyLength(Map<String, String> headers, int room) {
        if (headers.containsKey("transfer-encoding")) {
            throw new BadValue("A body must come with its length.");
        }
        return Waits.whole("content-length", headers.get("content-length"), 0, 0, room);
    }

    private static Map<String, String> headers(String[] lines) {
        Map<String, String> headers = new HashMap<>();
        for (int i = 1; i < lines.length; i++) {
            String[] pair = lines[i].split(":", 2);
            headers.put(pair[0].toLowerCase(Locale.ROOT), pair.length == 1 ? "" : pair[1].strip());
        }
        return headers;
    }

    private static Map<String, String> query(String text) {
        Map<String, String> query = new HashMap<>();
        for (String part : text.split("&")) {
            String[] pair = part.split("=", 2);
            query.put(decoded(pair[0]), pair.length == 1 ? "" : decoded(pair[1]));
        }
        return query;
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException malformed) {
            throw new BadValue("The query of this request is not well-formed.");
        }
    }
}
