package waitlab.jvm.perrequest;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Executor;
import java.util.function.Function;
import waitlab.shared.Backlog;
import waitlab.shared.BadValue;

/** A thread for each connection, the old model: a worker is held as long as its client stays, and says nothing. */
final class HeldDoor {

    private final Function<Request, Answer> handler;

    HeldDoor(Function<Request, Answer> handler) {
        this.handler = handler;
    }

    /** Listens on a port (0: a free one), whose connections these workers hold; answers the port. */
    int listen(InetSocketAddress address, Executor workers, String name) throws IOException {
        ServerSocketChannel socket = ServerSocketChannel.open().bind(address, Backlog.ASKED);
        Thread.ofPlatform().name(name).start(() -> acceptAll(socket, workers));
        return socket.socket().getLocalPort();
    }

    private void acceptAll(ServerSocketChannel socket, Executor workers) {
        while (socket.isOpen()) {
            try {
                SocketChannel channel = socket.accept();
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                workers.execute(() -> hold(new Connection(channel)));
            } catch (IOException | OutOfMemoryError failed) {
                System.err.println("A connection was not served: " + failed);
            }
        }
    }

    // snippet: connection
    private void hold(Connection connection) {
        try (connection) {
            boolean open = true;
            while (open && connection.read()) {
                open = answerAll(connection);
            }
        } catch (IOException gone) {
            // The client has hung up, and its worker is free again.
        }
    }
    // end

    /** Answers every request that has arrived whole; false when the connection is to be closed. */
    private boolean answerAll(Connection connection) throws IOException {
        try {
            boolean open = true;
            for (Request next = connection.next(); open && next != null; next = open ? connection.next() : null) {
                open = next.keepsAlive();
                connection.write(handler.apply(next), open);
            }
            return open;
        } catch (BadValue malformed) {
            connection.write(Answer.failed(400, malformed.getMessage()), false);
            return false;
        }
    }
}
