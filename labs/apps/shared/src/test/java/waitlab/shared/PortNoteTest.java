package waitlab.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PortNoteTest {

    @Test
    void appearsWholeAndAlone(@TempDir Path folder) throws IOException {
        Path file = Files.createDirectories(folder.resolve("my lab é")).resolve("port");
        PortNote.write(file, 8081);
        assertThat(file).hasContent("8081\n");
        assertThat(file.getParent()).isDirectoryNotContaining("glob:**.half");
    }
}
