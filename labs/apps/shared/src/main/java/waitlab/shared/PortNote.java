package waitlab.shared;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A file that appears whole or not at all, by which an app tells whoever started it which port it got. */
public final class PortNote {

    private PortNote() {}

    /** Writes the port into {@code file}. */
    public static void write(Path file, int port) {
        try {
            Path half = file.resolveSibling(file.getFileName() + ".half");
            Files.writeString(half, port + "\n");
            Files.move(half, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failed) {
            throw new UncheckedIOException("The port file " + file + " cannot be written.", failed);
        }
    }
}
