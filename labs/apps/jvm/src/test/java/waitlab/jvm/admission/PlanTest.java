package waitlab.jvm.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import waitlab.jvm.Options;
import waitlab.shared.BadValue;

class PlanTest {

    @Test
    void howLongARunLastsIsWholeWavesOfThoseServedTogether() {
        assertThat(plan().roughlyMs()).isEqualTo(8_000);
        assertThat(plan("--pool_size", "10").roughlyMs()).isEqualTo(40_000);
        assertThat(plan("--gate", "25").roughlyMs()).isEqualTo(16_000);
        assertThat(plan("--threads", "virtual", "--gate", "200", "--on_full", "reject").roughlyMs()).isEqualTo(80);
        assertThat(plan("--requests", "51").roughlyMs()).isEqualTo(40);
    }

    @Test
    void theGateStandsWhereItIsPut() {
        assertThat(plan("--gate", "9").door().width()).isEqualTo(9);
        assertThat(plan("--gate", "9").innerDoor().width()).isZero();
        assertThat(plan("--gate", "9", "--gate_at", "inside").door().width()).isZero();
        assertThat(plan("--gate", "9", "--gate_at", "inside").innerDoor().width()).isEqualTo(9);
    }

    @Test
    void wrongValuesAreRefused() {
        assertThatThrownBy(() -> plan("--gate", "-1")).isInstanceOf(BadValue.class);
        assertThatThrownBy(() -> plan("--threads", "green")).isInstanceOf(BadValue.class);
        assertThatThrownBy(() -> plan("--capacity", "0")).isInstanceOf(BadValue.class);
    }

    private static Plan plan(String... options) {
        String[] all = Stream.concat(Stream.of("admission"), Stream.of(options)).toArray(String[]::new);
        return Plan.of(Options.of(all, Map.of()));
    }
}
