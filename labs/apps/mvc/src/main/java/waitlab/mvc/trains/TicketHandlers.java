package waitlab.mvc.trains;

import java.util.function.UnaryOperator;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClientException;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.reactive.function.client.WebClientException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A sale whose second half fails: what becomes of the row that the first half wrote? */
@Trains
@RestController
class TicketHandlers {

    private static final String MONO = "webclient-mono";
    private static final String NOTHING = "";

    private final TicketOffice office;
    private final TrainClients clients;
    private final Calls calls;
    private final Tables tables;

    /** The rows before and after; {@code failed} is empty where the API answered. */
    record Sale(String client, String failed, long rowsBefore, long rowsAfter, boolean kept) {}

    TicketHandlers(TicketOffice office, TrainClients clients, Calls calls, Tables tables) {
        this.office = office;
        this.clients = clients;
        this.calls = calls;
        this.tables = tables;
    }

    @PostMapping(path = "/tickets", params = "client=" + MONO)
    Mono<Sale> later(WebRequest request) {
        Call call = failing(request);
        long before = office.sold();
        return office.sellLater(MONO, call)
                .map(_ -> NOTHING)
                .onErrorResume(WebClientException.class, failure -> Mono.just(failure.getMessage()))
                .publishOn(Schedulers.boundedElastic())
                .map(failed -> sale(MONO, failed, before));
    }

    @PostMapping("/tickets")
    Sale now(@RequestParam(name = "client", required = false) String client, WebRequest request) {
        Call call = failing(request);
        var asked = clients.blocking(client);
        long before = office.sold();
        String failed = NOTHING;
        try {
            office.sell(client, call, asked);
        } catch (RestClientException | WebClientException failure) {
            failed = failure.getMessage();
        }
        return sale(client, failed, before);
    }

    private Call failing(WebRequest request) {
        UnaryOperator<String> given = request::getParameter;
        tables.ready();
        return calls.asked(name -> "api".equals(name) && given.apply(name) == null ? "fails" : given.apply(name));
    }

    private Sale sale(String client, String failed, long before) {
        long after = office.sold();
        return new Sale(client, failed, before, after, after > before);
    }
}
