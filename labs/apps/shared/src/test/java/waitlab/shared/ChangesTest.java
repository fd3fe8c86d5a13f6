package waitlab.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChangesTest {

    private final List<String> done = new ArrayList<>();
    private final Changes changes =
            new Changes().allow("pool", 100, n -> done.add("pool " + n)).allow("spare", 10, n -> done.add("spare " + n));

    @Test
    void putsEveryValueInForce() {
        changes.apply(Map.of("pool", 100, "spare", 1));
        assertThat(done).containsExactlyInAnyOrder("pool 100", "spare 1");
    }

    static List<Object> wrong() {
        return List.of(0, -1, 101, 1.5, true, "", "abc", "10", 10_000_000_000L, List.of(), Map.of());
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void refusesWhatIsNoNumberInTheRange(Object value) {
        assertThatThrownBy(() -> changes.apply(Map.of("pool", value)))
                .isInstanceOf(BadValue.class)
                .hasMessageStartingWith("pool must be a whole number from 1 to 100, but was ");
    }

    @Test
    void aLimitMayHaveASmallestValueOfItsOwn() {
        changes.allow("patience", 250, 60_000, n -> done.add("patience " + n));
        assertThatThrownBy(() -> changes.apply(Map.of("patience", 249))).hasMessageContaining("from 250 to 60000");
        changes.apply(Map.of("patience", 250));
        assertThat(done).containsExactly("patience 250");
    }

    @Test
    void refusesNothingAtAll() {
        Map<String, Object> nothing = new LinkedHashMap<>();
        assertThatThrownBy(() -> changes.apply(nothing)).hasMessageContaining("pool, spare");
        nothing.put("pool", null);
        assertThatThrownBy(() -> changes.apply(nothing)).hasMessageContaining("null");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpus", "event_loops", "accept", ""})
    void refusesWhatCannotChangeLive(String name) {
        assertThatThrownBy(() -> changes.apply(Map.of(name, 4))).hasMessageContaining("these can: pool, spare");
    }

    @Test
    void changesAllOrNothing() {
        Map<String, Object> wanted = new LinkedHashMap<>();
        wanted.put("pool", 5);
        wanted.put("spare", 11);
        assertThatThrownBy(() -> changes.apply(wanted)).isInstanceOf(BadValue.class);
        assertThat(done).isEmpty();
    }
}
