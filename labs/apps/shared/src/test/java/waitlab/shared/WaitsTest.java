package waitlab.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WaitsTest {

    @Test
    void readsWholeMilliseconds() {
        assertThat(Waits.ofMillis("250")).isEqualTo(Duration.ofMillis(250));
    }

    @Test
    void readsSecondsWithDecimals() {
        assertThat(Waits.ofSeconds("0.25")).isEqualTo(Duration.ofMillis(250));
        assertThat(Waits.inSeconds(Waits.ofSeconds("0.000001"))).isEqualTo(1e-6);
    }

    @Test
    void waitsTwoSecondsUnlessTold() {
        assertThat(Waits.ofMillis(null)).isEqualTo(Waits.ofSeconds(null)).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void takesOneOfTheWordsOrTheUsual() {
        assertThat(Waits.word("api", "down", "ok", "ok", "down")).isEqualTo("down");
        assertThat(Waits.word("api", null, "ok", "ok", "down")).isEqualTo("ok");
        assertThatThrownBy(() -> Waits.word("api", "up", "ok", "ok", "down"))
                .isInstanceOf(BadValue.class)
                .hasMessage("api must be one of ok, down, but was 'up'.");
    }

    @Test
    void takesBothEndsOfTheRange() {
        assertThat(Waits.ofMillis("0")).isZero();
        assertThat(Waits.ofMillis("60000")).isEqualTo(Waits.ofSeconds("60")).isEqualTo(Waits.LONGEST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "abc", "-1", "1.5", "1e3", "60001", "9999999999999", "١", "NaN", "+5", "1,2"})
    void refusesOtherMilliseconds(String ms) {
        assertThatThrownBy(() -> Waits.ofMillis(ms))
                .isInstanceOf(BadValue.class)
                .hasMessageStartingWith("ms must be a whole number of milliseconds from 0 to 60000, but was ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "abc", "-1", "1e3", "60.1", "61", ".5", "1.", "0.0000001", "NaN", "Infinity"})
    void refusesOtherSeconds(String s) {
        assertThatThrownBy(() -> Waits.ofSeconds(s))
                .isInstanceOf(BadValue.class)
                .hasMessageStartingWith("s must be a number of seconds from 0 to 60, but was ");
    }

    @Test
    void repeatsNoLongOrUnprintableText() {
        assertThatThrownBy(() -> Waits.ofMillis("<\n" + "x".repeat(500)))
                .message()
                .hasSizeLessThan(150)
                .doesNotContain("\n");
    }
}
