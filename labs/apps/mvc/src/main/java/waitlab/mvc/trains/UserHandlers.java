package waitlab.mvc.trains;

import java.util.List;
import java.util.function.Function;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.WebRequest;
import reactor.core.publisher.Mono;
import waitlab.shared.Arrivals;
import waitlab.shared.LabClock;
import waitlab.shared.Waits;

/** The users: one of them by a single query, and his board, with the transaction ending where it is asked to. */
@Trains
@RestController
class UserHandlers {

    private static final String MONO = "webclient-mono";

    private final UserBoards boards;
    private final TrainClients clients;
    private final Calls calls;
    private final Tables tables;

    /** The bystander's answer. */
    record Found(int id, String name, String home, String thread, boolean virtual, long startedUs, long endedUs) {}

    /** A user's board, where its transaction ended, and who held what meanwhile. */
    record Answer(
            String boundary,
            String client,
            String user,
            long neighbours,
            boolean connectionHeldInCall,
            String thread,
            boolean virtual,
            String continuedOn,
            long startedUs,
            long endedUs,
            List<Arrivals.Train> arrivals) {}

    UserHandlers(UserBoards boards, TrainClients clients, Calls calls, Tables tables) {
        this.boards = boards;
        this.clients = clients;
        this.calls = calls;
        this.tables = tables;
    }

    @GetMapping("/user")
    Found user(@RequestParam(name = "id", required = false) String id) {
        long started = LabClock.nowUs();
        tables.ready();
        User user = boards.find(number(id));
        Thread held = Thread.currentThread();
        return new Found(
                user.id(), user.name(), user.home(), held.getName(), held.isVirtual(), started, LabClock.nowUs());
    }

    @GetMapping(path = "/user/arrivals", params = "client=" + MONO)
    Mono<Answer> later(WebRequest request) {
        Call call = calls.asked(request::getParameter);
        int id = number(request.getParameter("id"));
        String boundary = boundary(request);
        tables.ready();
        Mono<UserBoards.Board> board = switch (boundary) {
            case "transaction" -> boards.inTransactionLater(id, call);
            case "osiv" -> boards.inViewLater(id, call);
            default -> boards.splitLater(id, call);
        };
        return board.map(found -> answer(boundary, MONO, call, found));
    }

    @GetMapping("/user/arrivals")
    Answer now(@RequestParam(name = "client", required = false) String name, WebRequest request) {
        Call call = calls.asked(request::getParameter);
        int id = number(request.getParameter("id"));
        String boundary = boundary(request);
        Function<Call, Arrivals> client = clients.blocking(name);
        tables.ready();
        UserBoards.Board board = switch (boundary) {
            case "transaction" -> boards.inTransaction(id, call, client);
            case "osiv" -> boards.inView(id, call, client);
            default -> boards.split(id, call, client);
        };
        return answer(boundary, name, call, board);
    }

    private static String boundary(WebRequest request) {
        return Waits.word("boundary", request.getParameter("boundary"), "split", "transaction", "osiv", "split");
    }

    private static int number(String id) {
        return Waits.whole("id", id, 1, 1, Tables.USERS);
    }

    private static Answer answer(String boundary, String client, Call call, UserBoards.Board board) {
        Call.Answer answer = call.answer(board.arrivals());
        return new Answer(
                boundary,
                client,
                board.user(),
                board.neighbours(),
                board.held(),
                answer.thread(),
                answer.virtual(),
                answer.continuedOn(),
                answer.startedUs(),
                answer.endedUs(),
                answer.arrivals());
    }
}
