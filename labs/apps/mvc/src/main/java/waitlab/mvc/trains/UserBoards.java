package waitlab.mvc.trains;

import java.util.function.Function;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionOperations;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import waitlab.shared.Arrivals;
import waitlab.shared.BadValue;

/**
 * A user's own board: two queries, and one call of the API. What differs is where the transaction ends; and for each
 * place there is a method that waits for the API, and one that returns a Mono.
 */
@Trains
@Service
class UserBoards {

    private final Users users;
    private final TrainClients clients;
    private final HeldConnection connection;
    private final TransactionOperations transactions;

    /** What was found; {@code held} tells whether a database connection was kept while the API was asked. */
    record Board(String user, long neighbours, Arrivals arrivals, boolean held) {}

    UserBoards(Users users, TrainClients clients, HeldConnection connection, TransactionOperations transactions) {
        this.users = users;
        this.clients = clients;
        this.connection = connection;
        this.transactions = transactions;
    }

    // snippet: transaction
    @Transactional
    Board inTransaction(int id, Call call, Function<Call, Arrivals> client) {
        User user = find(id);
        Asked asked = ask(call, client);
        return asked.board(user, users.countByHome(user.home()));
    }
    // end

    // snippet: transaction-mono
    @Transactional
    Mono<Board> inTransactionLater(int id, Call call) {
        User user = find(id);
        long neighbours = users.countByHome(user.home());
        return askLater(call).map(asked -> asked.board(user, neighbours));
    }
    // end

    // snippet: osiv
    Board inView(int id, Call call, Function<Call, Arrivals> client) {
        User user = find(id);
        Asked asked = ask(call, client);
        return asked.board(user, users.countByHome(user.home()));
    }
    // end

    Mono<Board> inViewLater(int id, Call call) {
        User user = find(id);
        long neighbours = users.countByHome(user.home());
        return askLater(call).map(asked -> asked.board(user, neighbours));
    }

    // snippet: split
    Board split(int id, Call call, Function<Call, Arrivals> client) {
        User user = transactions.execute(_ -> find(id));
        Asked asked = ask(call, client);
        long neighbours = transactions.execute(_ -> users.countByHome(user.home()));
        return asked.board(user, neighbours);
    }
    // end

    /** The second transaction blocks, so it leaves the event loop. */
    Mono<Board> splitLater(int id, Call call) {
        User user = transactions.execute(_ -> find(id));
        return askLater(call)
                .publishOn(Schedulers.boundedElastic())
                .map(asked -> asked.board(user, transactions.execute(_ -> users.countByHome(user.home()))));
    }

    User find(int id) {
        return users.findById(id).orElseThrow(() -> new BadValue("There is no user " + id + "."));
    }

    private Asked ask(Call call, Function<Call, Arrivals> client) {
        boolean held = connection.now();
        return new Asked(client.apply(call), held);
    }

    private Mono<Asked> askLater(Call call) {
        return Mono.defer(() -> {
            boolean held = connection.now();
            return clients.byWebClient(call).map(arrivals -> new Asked(arrivals, held));
        });
    }

    private record Asked(Arrivals arrivals, boolean held) {

        Board board(User user, long neighbours) {
            return new Board(user.name(), neighbours, arrivals, held);
        }
    }
}
