package waitlab.shared;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;

/** Tells whoever started this app which port it got, by a file that appears whole or not at all. */
public final class PortFile implements ApplicationListener<WebServerInitializedEvent> {

    private final Path file;

    public PortFile(Path file) {
        this.file = file;
    }

    @Override
    public void onApplicationEvent(WebServerInitializedEvent bound) {
        if (file != null) {
            write(bound.getWebServer().getPort());
        }
    }

    void write(int port) {
        try {
            Path half = file.resolveSibling(file.getFileName() + ".half");
            Files.writeString(half, port + "\n");
            Files.move(half, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failed) {
            throw new UncheckedIOException("The port file " + file + " cannot be written.", failed);
        }
    }
}
