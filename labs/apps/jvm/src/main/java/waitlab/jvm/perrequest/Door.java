package waitlab.jvm.perrequest;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import waitlab.shared.Backlog;
import waitlab.shared.BadValue;

/**
 * A thread for each request. One thread, the door's own, accepts connections and reads requests from all of them; a
 * worker is held from the moment it takes a whole request until its answer is sent. A silent connection holds nobody.
 */
final class Door {

    private static final long TRY_AGAIN_NS = 10_000_000;

    private final Selector selector = Selector.open();
    private final Queue<Connection> answered = new ConcurrentLinkedQueue<>();
    private final Function<Request, Answer> handler;

    /** Who runs the requests of a listening socket. */
    private record Listener(Executor workers) {}

    /** A connection, and who runs its requests. */
    private record Client(Connection connection, Executor workers) {}

    Door(Function<Request, Answer> handler) throws IOException {
        this.handler = handler;
    }

    /** Listens on a port (0: a free one), whose requests for work these workers run; answers the port. */
    int listen(InetSocketAddress address, Executor workers) throws IOException {
        ServerSocketChannel socket = ServerSocketChannel.open().bind(address, Backlog.ASKED);
        socket.configureBlocking(false);
        socket.register(selector, SelectionKey.OP_ACCEPT, new Listener(workers));
        return socket.socket().getLocalPort();
    }

    void open(String name) {
        Thread.ofPlatform().name(name).start(this::serve);
    }

    private void serve() {
        while (selector.isOpen()) {
            try {
                selector.select(this::ready);
                listenAgain();
            } catch (IOException failed) {
                System.err.println("The server's door is stuck: " + failed);
            }
        }
    }

    private void ready(SelectionKey key) {
        try {
            switch (key.attachment()) {
                case Listener listener -> accept((ServerSocketChannel) key.channel(), listener);
                case Client client -> read(key, client);
                default -> throw new IllegalStateException("Nobody else is registered here.");
            }
        } catch (IOException failed) {
            failed(key, failed);
        }
    }

    /** A client that has gone is forgotten; a door that cannot let anybody in (no descriptor is free) tries again. */
    private static void failed(SelectionKey key, IOException failure) {
        if (key.attachment() instanceof Client) {
            close(key);
        } else {
            System.err.println("A connection could not be accepted: " + failure.getMessage());
            LockSupport.parkNanos(TRY_AGAIN_NS);
        }
    }

    private void accept(ServerSocketChannel socket, Listener listener) throws IOException {
        SocketChannel channel = socket.accept();
        while (channel != null) {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            Client client = new Client(new Connection(channel), listener.workers());
            channel.register(selector, SelectionKey.OP_READ, client);
            channel = socket.accept();
        }
    }

    private void read(SelectionKey key, Client client) throws IOException {
        if (!client.connection().read()) {
            close(key);
            return;
        }
        takeNext(key, client);
    }

    /** Hands the next request over, if it is all there; until it is answered the door listens no more to its client. */
    private void takeNext(SelectionKey key, Client client) throws IOException {
        try {
            Request request = client.connection().next();
            key.interestOps(request == null ? SelectionKey.OP_READ : 0);
            if (request != null) {
                executor(request, client).execute(() -> answer(request, client.connection()));
            }
        } catch (BadValue malformed) {
            client.connection().write(Answer.failed(400, malformed.getMessage()), false);
            close(key);
        } catch (OutOfMemoryError noThread) {
            client.connection().write(Answer.failed(503, "The machine gives this server no further thread."), false);
            close(key);
        }
    }

    /** Work goes to a worker; questions about the server are answered at the door. */
    private Executor executor(Request request, Client client) {
        return request.path().equals("/work") ? client.workers() : Runnable::run;
    }

    // snippet: request
    private void answer(Request request, Connection connection) {
        Answer answer = handler.apply(request);
        try {
            connection.write(answer, request.keepsAlive());
            if (request.keepsAlive()) {
                answered.add(connection);
            } else {
                connection.close();
            }
        } catch (IOException gone) {
            connection.close();
        }
        selector.wakeup();
    }
    // end

    private void listenAgain() throws IOException {
        for (Connection next = answered.poll(); next != null; next = answered.poll()) {
            SelectionKey key = next.channel().keyFor(selector);
            if (key != null && key.isValid()) {
                takeNext(key, (Client) key.attachment());
            }
        }
    }

    private static void close(SelectionKey key) {
        key.cancel();
        if (key.attachment() instanceof Client client) {
            client.connection().close();
        }
    }
}
