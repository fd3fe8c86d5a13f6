package waitlab.shared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.NoSuchElementException;

/** Connections that wait to be accepted: more than any burst of the lab, so that none is dropped. */
public final class Backlog {

    /** What every app asks for. */
    public static final int ASKED = 4096;

    private static final Path KERNEL_LIMIT = Path.of("/proc/sys/net/core/somaxconn");

    private Backlog() {}

    /** What the kernel makes of it; as asked where the kernel does not tell. */
    public static int inForce() {
        try {
            return Math.min(ASKED, Integer.parseInt(Files.readAllLines(KERNEL_LIMIT).getFirst().strip()));
        } catch (IOException | NumberFormatException | NoSuchElementException unknown) {
            return ASKED;
        }
    }
}
