package waitlab.webflux;

import java.time.Duration;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import reactor.core.publisher.Mono;
import waitlab.shared.Waits;

/** Stand-ins that wait as a database would: one holds the calling thread, the other answers later. */
@TestConfiguration(proxyBeanMethods = false)
class StubDatabases {

    @Bean
    @Primary
    BlockingDatabase blockingStub() {
        return new BlockingDatabase(null) {
            @Override
            void query(Duration wait) {
                Waits.sleep(wait);
            }
        };
    }

    @Bean
    @Primary
    ReactiveDatabase reactiveStub() {
        return new ReactiveDatabase(null, Duration.ofSeconds(5)) {
            @Override
            Mono<Void> query(Duration wait) {
                return Mono.delay(wait).then();
            }
        };
    }
}
