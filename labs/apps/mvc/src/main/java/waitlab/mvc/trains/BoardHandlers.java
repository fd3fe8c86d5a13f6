package waitlab.mvc.trains;

import java.util.List;
import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.WebRequest;
import waitlab.shared.Arrivals;
import waitlab.shared.Waits;

/** The protected board, and its breaker. */
@Trains
@RestController
class BoardHandlers {

    private final Calls calls;
    private final ProtectedBoard board;

    /** What a user sees on the board. */
    record Answer(
            String source,
            double ageMs,
            boolean refused,
            String breaker,
            String thread,
            boolean virtual,
            long startedUs,
            long endedUs,
            String station,
            List<Arrivals.Train> arrivals) {}

    BoardHandlers(Calls calls, ProtectedBoard board) {
        this.calls = calls;
        this.board = board;
    }

    @GetMapping("/board")
    Answer board(WebRequest request) {
        Call call = calls.asked(request::getParameter);
        ProtectedBoard.Shown shown = board.show(call);
        Call.Answer answer = call.answer(shown.arrivals());
        return new Answer(
                shown.source(),
                shown.ageMs(),
                shown.refused(),
                shown.breaker(),
                answer.thread(),
                answer.virtual(),
                answer.startedUs(),
                answer.endedUs(),
                answer.station(),
                answer.arrivals());
    }

    @GetMapping("/breaker")
    Map<String, Object> breaker() {
        return board.told();
    }

    @PutMapping("/breaker")
    Map<String, Object> protectAnew(WebRequest request) {
        Protection.Rules rules = Protection.Rules.asked(request::getParameter);
        String empty = Waits.word("empty_cache", request.getParameter("empty_cache"), "false", "true", "false");
        if (Boolean.parseBoolean(empty)) {
            board.forget();
        }
        board.protectAnew(rules);
        return board.told();
    }
}
