package waitlab.jvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import waitlab.shared.BadValue;

class JsonTest {

    @Test
    void writesEveryKindOfValue() {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("n", 7);
        object.put("x", 1.5);
        object.put("yes", true);
        object.put("none", null);
        object.put("text", "a \"b\" \\ \n");
        object.put("list", Arrays.asList(1, List.of("c"), Map.of()));
        assertThat(Json.written(object))
                .isEqualTo("{\"n\":7,\"x\":1.5,\"yes\":true,\"none\":null,\"text\":\"a \\\"b\\\" \\\\ \\u000a\","
                        + "\"list\":[1,[\"c\"],{}]}");
    }

    @Test
    void readsFlatObjects() {
        assertThat(Json.flat(" {\"a\": 3, \"b\" :\"4\",\"c\":true, \"d\": 1.5} "))
                .isEqualTo(Map.of("a", 3, "b", "\"4\"", "c", "true", "d", "1.5"));
        assertThat(Json.flat("{ }")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "[]", "7", "{", "{\"a\"}", "{\"a\": {}}", "{\"a\": 1,}", "{\"a\": [1]}"})
    void refusesAnythingElse(String text) {
        assertThatThrownBy(() -> Json.flat(text)).isInstanceOf(BadValue.class);
    }
}
