package waitlab.mvc;

import java.time.Duration;
import java.util.function.Consumer;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.WebRequest;
import waitlab.shared.BadValue;
import waitlab.shared.Waits;
import waitlab.shared.Work;

/** The work, written as blocking code. Nothing here knows which kind of thread it runs on: the port decides that. */
@RestController
class WorkHandlers {

    private static final Work NOTHING = new Work(Duration.ZERO, Duration.ZERO, 0, false);

    private final Database database;
    private final WorkerCount workers;

    WorkHandlers(Database database, WorkerCount workers) {
        this.database = database;
        this.workers = workers;
    }

    @GetMapping("/fast")
    Work.Done fast() {
        return NOTHING.on(Waits::sleep);
    }

    @GetMapping("/work")
    Work.Done work(WebRequest request, @RequestParam(name = "downstream", required = false) String downstream) {
        Work work = Work.asked(request::getParameter);
        Consumer<Duration> called = called(downstream);
        workers.working(Thread.currentThread());
        // snippet: work
        return work.on(called);
        // end
    }

    private Consumer<Duration> called(String downstream) {
        return switch (downstream) {
            case null -> Waits::sleep;
            case "sleep" -> Waits::sleep;
            case "postgres" -> database::query;
            default -> throw new BadValue("downstream must be sleep or postgres.");
        };
    }
}
