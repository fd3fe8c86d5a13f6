package waitlab.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class AcceptQueueTest {

    private static final String HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n";

    @TempDir
    Path folder;

    private AcceptQueue of(int port, String table) throws IOException {
        Path file = Files.writeString(folder.resolve("tcp"), HEAD + table);
        return new AcceptQueue(() -> port, List.of(folder.resolve("none"), file));
    }

    @Test
    void readsTheQueueOfTheListeningSocketAlone() throws IOException {
        String table = """
                   0: 0100007F:1F90 00000000:0000 0A 00000000:0000002B 00:00000000 00000000
                   1: 0100007F:1F91 00000000:0000 0A 00000000:00000001 00:00000000 00000000
                   2: 0100007F:1F92 0100007F:D839 01 00000000:00000007 00:00000000 00000000
                """;
        assertThat(of(0x1F90, table).waiting()).isEqualTo(0x2B);
        assertThat(of(0x1F91, table).waiting()).isEqualTo(1);
        assertThat(of(0x1F92, table).waiting()).isEqualTo(AcceptQueue.UNKNOWN);
    }

    @Test
    void knowsWhenItIsNotTold() throws IOException {
        assertThat(of(1, "").waiting()).isEqualTo(AcceptQueue.UNKNOWN);
        assertThat(of(1, "   0: 0100007F:0001 00000000:0000 0A nonsense 00 00\n").waiting()).isEqualTo(AcceptQueue.UNKNOWN);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void countsConnectionsThatNobodyHasAccepted() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress())) {
            AcceptQueue queue = new AcceptQueue(server::getLocalPort);
            assertThat(queue.waiting()).isZero();
            try (Socket one = new Socket(server.getInetAddress(), server.getLocalPort());
                    Socket two = new Socket(server.getInetAddress(), server.getLocalPort())) {
                assertThat(List.of(one.isConnected(), two.isConnected())).containsOnly(true);
                untilWaiting(queue, 2);
                server.accept().close();
                untilWaiting(queue, 1);
            }
        }
    }

    /** The kernel may put a connection into the queue a moment after its client has it. */
    private static void untilWaiting(AcceptQueue queue, int connections) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (queue.waiting() != connections) {
            assertThat(System.nanoTime()).as("ten seconds, and %d wait", queue.waiting()).isLessThan(end);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }
}
