package waitlab.mvc.trains;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import waitlab.shared.BadValue;

class ApiAddressTest {

    private final ApiAddress address = new ApiAddress(List.of("app"), "");

    @ParameterizedTest
    @ValueSource(strings = {"http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:9", "http://app:8080/"})
    void takesAServerOfTheLab(String url) {
        address.change(url);
        assertThat(url).startsWith(address.base().toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "app", "https://app:8080", "file:///etc/passwd", "http://evil.example",
        "http://app.evil.example",
        "http://app@evil.example", "http://evil@app:8080", "http://app:8080/admin", "http://app?x", "http://app#x",
        "http://169.254.169.254", "http://127.0.0.1:0", "http://127.0.0.1:65536", "http:app", "http://127.0.0.1:8080 ", "//app"})
    void refusesAnyOther(String url) {
        assertThatThrownBy(() -> address.change(url)).isInstanceOf(BadValue.class).hasMessageContaining("url must be");
        assertThat(address.base()).isNull();
    }
}
