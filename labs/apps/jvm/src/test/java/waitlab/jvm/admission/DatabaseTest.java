package waitlab.jvm.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import waitlab.shared.LabClock;

/** Runs where the environment names a database; everywhere else Python's tests measure against the lab's own. */
@EnabledIfEnvironmentVariable(named = "LAB_DB_FILE", matches = ".+", disabledReason = "no database is named")
class DatabaseTest {

    @Test
    void aCallSleepsInTheDatabase() throws Exception {
        Properties where = new Properties();
        try (Reader lines = Files.newBufferedReader(Path.of(System.getenv("LAB_DB_FILE")))) {
            where.load(lines);
        }
        try (Database database = new Database(where, 3, Duration.ofMillis(50))) {
            assertThat(database.capacity()).isEqualTo(3);
            long began = database.call();
            assertThat(LabClock.nowUs() - began).isGreaterThanOrEqualTo(50_000);
        }
    }
}
