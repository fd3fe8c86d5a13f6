package waitlab.jvm.perrequest;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Supplier;
import waitlab.jvm.Json;
import waitlab.shared.BadValue;

/** What a request is answered: a status and a JSON object. */
record Answer(int status, Map<String, ?> body) {

    private static final Map<Integer, String> WORDS = Map.of(
            200, "OK", 400, "Bad Request", 403, "Forbidden", 404, "Not Found", 500, "Internal Server Error",
            503, "Service Unavailable");

    static Answer ok(Map<String, ?> body) {
        return new Answer(200, body);
    }

    static Answer failed(int status, String sentence) {
        return new Answer(status, Map.of("error", sentence));
    }

    /** The answer that {@code handler} gives, or its failure as a sentence. */
    static Answer by(Supplier<Answer> handler) {
        try {
            return handler.get();
        } catch (BadValue bad) {
            return failed(400, bad.getMessage());
        } catch (RuntimeException unforeseen) {
            System.err.println("A request failed: " + unforeseen);
            return failed(500, "The request failed; the server's log says why.");
        }
    }

    /** The bytes on the wire. */
    ByteBuffer bytes(boolean keepAlive) {
        byte[] json = Json.written(body).getBytes(StandardCharsets.UTF_8);
        String head = "HTTP/1.1 " + status + " " + WORDS.get(status) + "\r\nContent-Type: application/json\r\n"
                + "Content-Length: " + json.length + "\r\nConnection: " + (keepAlive ? "keep-alive" : "close")
                + "\r\n\r\n";
        ByteBuffer bytes = ByteBuffer.allocate(head.length() + json.length);
        return bytes.put(head.getBytes(StandardCharsets.US_ASCII)).put(json).flip();
    }
}
