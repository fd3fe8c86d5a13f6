package waitlab.jvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import waitlab.shared.BadValue;

class OptionsTest {

    private static Options options(String... pairs) {
        String[] args = new String[pairs.length + 1];
        System.arraycopy(pairs, 0, args, 1, pairs.length);
        return Options.of(args, Map.of("SET", "x", "EMPTY", "", "WIDTH", "4", "KIND", "b"));
    }

    @Test
    void readsPairs() {
        Options options = options("--size", "7", "--model", "b");
        assertThat(options.whole("size", 1, 1, 9)).isEqualTo(7);
        assertThat(options.choice("model", "a", "b")).isEqualTo("b");
        options.nothingElse();
    }

    @Test
    void hasUsualValues() {
        assertThat(options().whole("size", 3, 1, 9)).isEqualTo(3);
        assertThat(options().choice("model", "a", "b")).isEqualTo("a");
        assertThat(options().variable("SET")).contains("x");
        assertThat(options().variable("EMPTY")).isEmpty();
    }

    @Test
    void looksInTheEnvironmentForWhatIsNotGiven() {
        assertThat(options().whole("width", 1, 1, 9)).isEqualTo(4);
        assertThat(options("--width", "5").whole("width", 1, 1, 9)).isEqualTo(5);
        assertThat(options().choice("kind", "a", "b")).isEqualTo("b");
    }

    @Test
    void refusesWhatItDoesNotKnow() {
        assertThatThrownBy(() -> options("--size", "7").nothingElse()).isInstanceOf(BadValue.class).hasMessageContaining("--size");
        assertThatThrownBy(() -> options("size", "7")).isInstanceOf(BadValue.class);
        assertThatThrownBy(() -> options("--size")).isInstanceOf(BadValue.class);
        assertThatThrownBy(() -> options("--size", "10").whole("size", 1, 1, 9)).isInstanceOf(BadValue.class);
        assertThatThrownBy(() -> options("--model", "c").choice("model", "a", "b")).isInstanceOf(BadValue.class);
    }
}
