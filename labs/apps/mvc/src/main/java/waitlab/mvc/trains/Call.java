package waitlab.mvc.trains;

import java.net.URI;
import java.util.List;
import waitlab.shared.Arrivals;
import waitlab.shared.LabClock;

/**
 * One call of the API on behalf of a request: the address, and the thread that took the request.
 *
 * @param detected whether the blocking clients are to use the HTTP library that Spring Boot finds by itself
 */
record Call(URI uri, String station, boolean detected, String thread, boolean virtual, long startedUs) {

    /** The request's answer, assembled by the thread that has the API's answer in hand. */
    Answer answer(Arrivals found) {
        return new Answer(
                thread,
                virtual,
                Thread.currentThread().getName(),
                startedUs,
                LabClock.nowUs(),
                found.station(),
                found.arrivals());
    }

    /** What a request for arrivals is answered; {@code continuedOn} is the thread that carried on after the call. */
    record Answer(
            String thread,
            boolean virtual,
            String continuedOn,
            long startedUs,
            long endedUs,
            String station,
            List<Arrivals.Train> arrivals) {}
}
