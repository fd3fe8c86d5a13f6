package waitlab.mvc.trains;

import java.util.function.Function;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Mono;
import waitlab.shared.Arrivals;

/** Sells tickets: a row, and a question to the API, in one method with one transaction around it. */
@Trains
@Service
class TicketOffice {

    private final Tickets tickets;
    private final TrainClients clients;

    TicketOffice(Tickets tickets, TrainClients clients) {
        this.tickets = tickets;
        this.clients = clients;
    }

    // snippet: sell
    @Transactional
    Arrivals sell(String buyer, Call call, Function<Call, Arrivals> client) {
        tickets.save(new Ticket(buyer));
        return client.apply(call);
    }
    // end

    // snippet: sell-later
    @Transactional
    Mono<Arrivals> sellLater(String buyer, Call call) {
        tickets.save(new Ticket(buyer));
        return clients.byWebClient(call);
    }
    // end

    long sold() {
        return tickets.count();
    }
}
