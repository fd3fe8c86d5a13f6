package waitlab.mvc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.orm.jpa.support.PersistenceAnnotationBeanPostProcessor;

/** Whoever does not ask for the trains gets nothing of them: no endpoint, no part, and no time spent at the start. */
class WithoutTrainsTest extends RunningApp {

    private static final String PARTS_OF_THE_TRAINS =
            ".*(hibernate|\\.jpa\\.|\\.data\\.|restclient|webclient|http\\.client|transaction|\\.trains\\.).*";

    @Autowired
    private ApplicationContext context;

    @ParameterizedTest
    @ValueSource(strings = {"/arrivals?client=restclient", "/user", "/user/arrivals", "/board", "/breaker", "/watch"})
    void theirPathsAreUnknown(String path) {
        assertThat(get(path).status()).isEqualTo(404);
    }

    @Test
    void noneOfTheirPartsIsMade() {
        assertThat(Stream.of(context.getBeanDefinitionNames()).filter(name -> name.matches(PARTS_OF_THE_TRAINS)))
                .isEmpty();
        assertThat(Stream.of(context.getBeanDefinitionNames())
                        .map(context::getType)
                        .filter(type -> type != null && type.getName().matches(PARTS_OF_THE_TRAINS)))
                .allMatch(PersistenceAnnotationBeanPostProcessor.class::equals, "Spring's, wherever JPA can be seen");
    }

    @Test
    void theSettingsSaySo() {
        assertThat(get("/settings").body().get("trains").asBoolean()).isFalse();
        assertThat(get("/settings").body().get("open_in_view").asBoolean()).isFalse();
        assertThat(get("/settings").body().get("connection_timeout_ms").asInt()).isEqualTo(60_000);
    }
}
