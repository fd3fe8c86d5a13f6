package waitlab.jvm.perrequest;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import waitlab.shared.BadValue;

/** One client's connection: what has arrived on it and was not answered yet. */
final class Connection implements Closeable {

    private static final int LARGEST_REQUEST = 8_192;

    private final SocketChannel channel;
    private final ByteBuffer arrived = ByteBuffer.allocate(LARGEST_REQUEST);

    Connection(SocketChannel channel) {
        this.channel = channel;
    }

    SocketChannel channel() {
        return channel;
    }

    /** Reads what is there, or waits for it where the channel blocks; false when the client has hung up. */
    boolean read() throws IOException {
        return channel.read(arrived) >= 0;
    }

    /** The next whole request, or null while a part of it is missing; BadValue if it never will be whole. */
    Request next() {
        Request request = Request.first(arrived.array(), arrived.position());
        if (request != null) {
            arrived.flip().position(request.length());
            arrived.compact();
        } else if (!arrived.hasRemaining()) {
            throw new BadValue("A request has " + LARGEST_REQUEST + " bytes at most.");
        }
        return request;
    }

    /** Sends the answer; a client that does not read its short answers is hung up on. */
    void write(Answer answer, boolean keepAlive) throws IOException {
        ByteBuffer bytes = answer.bytes(keepAlive);
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) == 0) {
                throw new IOException("The client does not read.");
            }
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException gone) {
            // It is closed, whatever the reason given.
        }
    }
}
