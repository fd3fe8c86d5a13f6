package waitlab.mvc;

import java.time.Duration;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import waitlab.shared.Waits;

/** A stand-in that holds the calling thread, as a database would. */
@TestConfiguration(proxyBeanMethods = false)
class StubDatabase {

    @Bean
    @Primary
    Database stub() {
        return new Database(null) {
            @Override
            void query(Duration wait) {
                Waits.sleep(wait);
            }
        };
    }
}
