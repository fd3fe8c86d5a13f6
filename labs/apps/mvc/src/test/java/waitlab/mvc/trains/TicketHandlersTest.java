package waitlab.mvc.trains;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What becomes of a row when the call after it fails. */
class TicketHandlersTest extends RunningTrains {

    @ParameterizedTest
    @CsvSource({"resttemplate, false", "restclient, false", "webclient-block, false", "webclient-mono, true"})
    void aLaterErrorRollsBackOnlyWhatIsStillInTheTransaction(String client, boolean kept) {
        JsonNode sale = change("POST", "/tickets?client=" + client).body();
        assertThat(sale.get("failed").asString()).startsWith("500");
        assertThat(sale.get("kept").asBoolean()).isEqualTo(kept);
        assertThat(sale.get("rows_after").asInt() - sale.get("rows_before").asInt()).isEqualTo(kept ? 1 : 0);
    }

    @ParameterizedTest
    @CsvSource({"restclient", "webclient-mono"})
    void aSaleThatSucceedsIsKept(String client) {
        JsonNode sale = change("POST", "/tickets?api=ok&client=" + client).body();
        assertThat(sale.get("failed").asString()).isEmpty();
        assertThat(sale.get("kept").asBoolean()).isTrue();
    }

    @Test
    void nothingIsSoldWithoutTheToken() {
        assertThat(send("POST", "/tickets?client=restclient", "", List.of()).status()).isEqualTo(403);
        assertThat(get("/tickets?client=restclient").status()).isEqualTo(405);
    }
}
