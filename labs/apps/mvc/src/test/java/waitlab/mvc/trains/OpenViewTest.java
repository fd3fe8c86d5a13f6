package waitlab.mvc.trains;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.test.context.TestPropertySource;

/** With the view open, the connection stays from the first query to the end of the request, whatever the boundary. */
@TestPropertySource(properties = "spring.jpa.open-in-view=true")
class OpenViewTest extends RunningTrains {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "boundary=transaction&client=restclient",
                "boundary=transaction&client=webclient-block",
                "boundary=transaction&client=webclient-mono",
                "boundary=osiv&client=resttemplate",
                "boundary=osiv&client=webclient-block",
                "boundary=osiv&client=webclient-mono",
                "boundary=split&client=restclient",
                "boundary=split&client=webclient-mono"
            })
    void keepsTheConnectionDuringTheCall(String query) throws Exception {
        ok("/user?id=7");
        var sent = getLater("/user/arrivals?api=slow&" + query);
        API.holds(1);
        assertThat(pool.counts().seen().active()).isEqualTo(1);
        API.release();
        assertThat(sent.join().body().get("connection_held_in_call").asBoolean()).isTrue();
    }

    @Test
    void isTold() {
        assertThat(ok("/settings").get("open_in_view").asBoolean()).isTrue();
    }
}
