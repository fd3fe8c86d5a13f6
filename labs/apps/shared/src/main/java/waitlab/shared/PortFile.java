package waitlab.shared;

import java.nio.file.Path;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;

/** Tells whoever started this app which port it got, by a file. */
public final class PortFile implements ApplicationListener<WebServerInitializedEvent> {

    private final Path file;

    public PortFile(Path file) {
        this.file = file;
    }

    @Override
    public void onApplicationEvent(WebServerInitializedEvent bound) {
        if (file != null) {
            PortNote.write(file, bound.getWebServer().getPort());
        }
    }
}
