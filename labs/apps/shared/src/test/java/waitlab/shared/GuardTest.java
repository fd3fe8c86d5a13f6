package waitlab.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class GuardTest {

    private final Guard guard = new Guard("secret", List.of("webflux"));

    @Test
    void letsAnyoneRead() {
        assertThat(guard.refusal("GET", "evil.example", "http://evil.example", null)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:8080", "localhost:8080", "LOCALHOST", "[::1]:8080", "webflux:8080", "webflux"})
    void letsTheLabChange(String host) {
        assertThat(guard.refusal("PUT", host, null, "secret")).isEmpty();
        assertThat(guard.refusal("PUT", host, "http://" + host, "secret")).isEmpty();
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "Secret", "secret ", "secre"})
    void refusesAWrongToken(String token) {
        assertThat(guard.refusal("DELETE", "localhost:1", null, token)).isPresent();
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "192.168.1.1"})
    void refusesAForeignHost(String host) {
        assertThat(guard.refusal("PUT", host, null, "secret")).get().asString().contains("host");
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "", "http://evil.example", "https://localhost.evil.example", "http://a b", "file://"})
    void refusesAForeignOrigin(String origin) {
        assertThat(guard.refusal("POST", "localhost:1", origin, "secret")).get().asString().contains("origin");
    }

    @ParameterizedTest
    @CsvSource(value = {"-, -", "'', ''", "'', -"}, nullValues = "-")
    void refusesEveryChangeWhenThereIsNoToken(String told, String shown) {
        assertThat(new Guard(told, null).refusal("PUT", "localhost", null, shown)).isPresent();
    }
}
