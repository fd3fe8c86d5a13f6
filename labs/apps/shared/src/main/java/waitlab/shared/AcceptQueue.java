package waitlab.shared;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * How many connections the kernel holds for a listening port that its server has not accepted yet. Linux tells it in
 * its tables of sockets, where listeners come first and {@code rx_queue} is the length of their queue.
 */
public final class AcceptQueue {

    /** Where the kernel does not tell. */
    public static final int UNKNOWN = -1;

    private static final List<Path> TABLES = List.of(Path.of("/proc/net/tcp6"), Path.of("/proc/net/tcp"));
    private static final String LISTENS = "0A";
    private static final int LOCAL = 1;
    private static final int STATE = 3;
    private static final int QUEUES = 4;
    private static final int HEX = 16;
    private static final int ENOUGH = 8192;

    private final IntSupplier port;
    private final List<Path> tables;

    /** The queue of the port that is bound when it is asked. */
    public AcceptQueue(IntSupplier port) {
        this(port, TABLES);
    }

    AcceptQueue(IntSupplier port, List<Path> tables) {
        this.port = port;
        this.tables = tables;
    }

    /** Connections that wait to be accepted; {@link #UNKNOWN} where the kernel does not tell. */
    public long waiting() {
        for (Path table : tables) {
            long found = waitingIn(table);
            if (found != UNKNOWN) {
                return found;
            }
        }
        return UNKNOWN;
    }

    /** Only the beginning of the table is read: it may be long, and the listeners are at its head. */
    private long waitingIn(Path table) {
        try (InputStream in = Files.newInputStream(table)) {
            String head = new String(in.readNBytes(ENOUGH), StandardCharsets.US_ASCII);
            String own = ":%04X".formatted(port.getAsInt());
            return head.lines()
                    .map(line -> line.strip().split("\\s+"))
                    .filter(row -> row.length > QUEUES && row[STATE].equals(LISTENS) && row[LOCAL].endsWith(own))
                    .mapToLong(row -> Long.parseLong(row[QUEUES].substring(row[QUEUES].indexOf(':') + 1), HEX))
                    .findFirst()
                    .orElse(UNKNOWN);
        } catch (IOException | NumberFormatException untold) {
            return UNKNOWN;
        }
    }
}
