package waitlab.mvc.trains;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.WebRequest;
import reactor.core.publisher.Mono;

/** The arrivals at a station, asked from the API through four clients: the same handler four times. */
@Trains
@RestController
class ArrivalsHandlers {

    private final Calls calls;
    private final TrainClients clients;

    ArrivalsHandlers(Calls calls, TrainClients clients) {
        this.calls = calls;
        this.clients = clients;
    }

    @GetMapping(path = "/arrivals", params = "client=resttemplate")
    Call.Answer restTemplate(WebRequest request) {
        Call call = calls.asked(request::getParameter);
        return call.answer(clients.byRestTemplate(call));
    }

    // snippet: arrivals-blocking
    @GetMapping(path = "/arrivals", params = "client=restclient")
    Call.Answer restClient(WebRequest request) {
        Call call = calls.asked(request::getParameter);
        return call.answer(clients.byRestClient(call));
    }
    // end

    @GetMapping(path = "/arrivals", params = "client=webclient-block")
    Call.Answer webClientBlock(WebRequest request) {
        Call call = calls.asked(request::getParameter);
        return call.answer(clients.byWebClientBlocked(call));
    }

    // snippet: arrivals-mono
    @GetMapping(path = "/arrivals", params = "client=webclient-mono")
    Mono<Call.Answer> webClientMono(WebRequest request) {
        Call call = calls.asked(request::getParameter);
        return clients.byWebClient(call).map(call::answer);
    }
    // end

    /** Anybody else gets a sentence. */
    @GetMapping("/arrivals")
    Call.Answer other(@RequestParam(name = "client", required = false) String client, WebRequest request) {
        Call call = calls.asked(request::getParameter);
        return call.answer(clients.blocking(client).apply(call));
    }
}
