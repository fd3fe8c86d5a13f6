package waitlab.webflux;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import waitlab.shared.Waits;

/** Another service, as slow as it is asked to be: it answers {@code GET /MILLISECONDS} after that time, on loopback. */
final class SlowNeighbour implements AutoCloseable {

    private static final String ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

    private final ServerSocket door;

    SlowNeighbour() throws IOException {
        door = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().name("neighbour").start(this::serve);
    }

    /** Where it answers after this time. */
    String url(Duration wait) {
        return "http://" + door.getInetAddress().getHostAddress() + ":" + door.getLocalPort() + "/" + wait.toMillis();
    }

    private void serve() {
        while (!door.isClosed()) {
            try {
                Socket guest = door.accept();
                Thread.ofVirtual().start(() -> answer(guest));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private static void answer(Socket guest) {
        try (guest;
                BufferedReader asked = new BufferedReader(
                        new InputStreamReader(guest.getInputStream(), StandardCharsets.US_ASCII))) {
            String path = asked.readLine().split(" ")[1];
            for (String line = asked.readLine(); line != null && !line.isEmpty(); line = asked.readLine()) {}
            Waits.sleep(Waits.ofMillis(path.substring(1)));
            guest.getOutputStream().write(ANSWER.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    @Override
    public void close() throws IOException {
        door.close();
    }
}
