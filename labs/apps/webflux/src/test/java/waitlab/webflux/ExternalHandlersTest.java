package waitlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import waitlab.shared.Guard;
import waitlab.shared.LabClock;

class ExternalHandlersTest extends RunningApp {

    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    private static final List<String> OURS = List.of(Guard.TOKEN_HEADER, TOKEN);

    private JsonNode behave(String query) {
        return send("PUT", "/external?" + query, "", OURS).body();
    }

    private void untilWaiting(int requests) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (get("/external").body().get("waiting").asInt() != requests) {
            assertThat(System.nanoTime()).as("ten seconds").isLessThan(end);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    @AfterEach
    void asAtFirst() {
        behave("api=slow&ms=2000");
    }

    @Test
    void aStationHasTheSameTrainsEveryTime() {
        JsonNode bern = get("/external/arrivals?api=ok&station=Bern").body();
        assertThat(bern.get("station").asString()).isEqualTo("Bern");
        assertThat(bern.get("arrivals")).hasSize(6);
        assertThat(bern.get("arrivals").get(0).propertyNames())
                .containsExactlyInAnyOrder("train", "to", "platform", "in_minutes");
        assertThat(get("/external/arrivals?api=ok&station=Bern").body()).isEqualTo(bern);
        assertThat(get("/external/arrivals?api=ok&station=Chur").body()).isNotEqualTo(bern);
    }

    @Test
    void isAsSlowAsAsked() {
        long before = LabClock.nowUs();
        assertThat(get("/external/arrivals?api=slow&ms=80").status()).isEqualTo(200);
        assertThat(LabClock.nowUs() - before).isGreaterThanOrEqualTo(80_000);
    }

    @Test
    void keepsNoThreadWhileACallerWaits() {
        List<CompletableFuture<Answer>> sent = IntStream.range(0, 200)
                .mapToObj(i -> getLater("/external/arrivals?api=slow&ms=60000"))
                .toList();
        untilWaiting(200);
        Set<Thread> threads = Thread.getAllStackTraces().keySet();
        assertThat(threads)
                .filteredOn(thread -> thread.getName().startsWith("parallel-"))
                .hasSizeLessThanOrEqualTo(PROCESSORS);
        sent.forEach(later -> later.cancel(true));
        untilWaiting(0);
    }

    @Test
    void behavesAsItWasLastTold() {
        assertThat(behave("api=fails").get("api").asString()).isEqualTo("fails");
        assertThat(get("/external/arrivals").status()).isEqualTo(500);
        assertThat(get("/external/arrivals?api=ok").status()).isEqualTo(200);
        assertThat(behave("ms=5").get("api").asString()).isEqualTo("fails");
        assertThat(behave("api=slow").get("ms").asInt()).isEqualTo(5);
        assertThat(get("/external/arrivals").status()).isEqualTo(200);
    }

    @Test
    void neverAnswersWhenItIsDown() {
        var sent = getLater("/external/arrivals?api=down");
        untilWaiting(1);
        assertThat(sent).isNotDone();
        sent.cancel(true);
        untilWaiting(0);
    }

    @Test
    void letsEverybodyGoInAHurry() {
        var slow = getLater("/external/arrivals?api=slow&ms=60000");
        var down = getLater("/external/arrivals?api=down");
        untilWaiting(2);
        behave("hurry=true");
        assertThat(slow.join().status()).isEqualTo(200);
        assertThat(down.join().status()).isEqualTo(200);
        assertThat(get("/external/arrivals?api=down").status()).isEqualTo(200);
        assertThat(send("PUT", "/external?hurry=yes", "", OURS).status()).isEqualTo(400);
        behave("hurry=false");
        var again = getLater("/external/arrivals?api=down");
        untilWaiting(1);
        assertThat(again).isNotDone();
        again.cancel(true);
        untilWaiting(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"api=up", "ms=-1", "ms=60001", "api=slow&ms=x"})
    void refusesABadValue(String query) {
        assertThat(get("/external/arrivals?" + query).status()).isEqualTo(400);
        assertThat(send("PUT", "/external?" + query, "", OURS).status()).isEqualTo(400);
        assertThat(send("PUT", "/external?api=ok", "", List.of()).status()).isEqualTo(403);
        assertThat(get("/external").body().get("api").asString()).isEqualTo("slow");
    }
}
