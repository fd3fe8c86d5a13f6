package waitlab.jvm.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import waitlab.jvm.Options;

@Timeout(60)
class ValveTest {

    @Test
    void neverMoreThanItsCapacityAreServedAtATime() throws InterruptedException {
        int most = 4;
        String[] asked = {"admission", "--threads", "virtual", "--requests", "200", "--capacity", "4", "--hold_ms", "2"};
        Plan plan = Plan.of(Options.of(asked, Map.of()));
        Ledger ledger = new Ledger(plan.requests());
        ledger.start();
        try (Rush rush = new Rush(plan, new Valve(plan.capacity(), plan.hold()), ledger)) {
            rush.serve();
        }
        String[] told = ledger.news().replaceAll("[\\[\\]]", "").split(",");
        List<long[]> served = new ArrayList<>();
        for (int i = 0; i < told.length; i += 5) {
            served.add(new long[] {Long.parseLong(told[i + 3]), Long.parseLong(told[i + 4])});
        }
        served.sort((a, b) -> Long.compare(a[0], b[0]));
        for (int i = most; i < served.size(); i++) {
            assertThat(served.get(i)[0] - served.get(i - most)[0]).isGreaterThanOrEqualTo(2_000);
        }
    }
}
