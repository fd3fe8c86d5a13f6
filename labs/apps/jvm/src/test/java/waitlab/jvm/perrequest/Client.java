package waitlab.jvm.perrequest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A connection of the test's own, which can also say nothing, or half of something. */
final class Client implements AutoCloseable {

    private static final Pattern LENGTH = Pattern.compile("Content-Length: (\\d+)\r\n");

    private final Socket socket;

    Client(int port) {
        try {
            socket = new Socket("127.0.0.1", port);
            socket.setSoTimeout(60_000);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    String get(String path) {
        return send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").answer();
    }

    Client send(String text) {
        try {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
            return this;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** The next answer, head and body. */
    String answer() {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) read());
        }
        Matcher length = LENGTH.matcher(head);
        int bytes = length.find() ? Integer.parseInt(length.group(1)) : 0;
        for (int i = 0; i < bytes; i++) {
            head.append((char) read());
        }
        return head.toString();
    }

    /** True when the server has hung up. */
    boolean ended() {
        return read() < 0;
    }

    private int read() {
        try {
            return socket.getInputStream().read();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
