package waitlab.mvc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A client's mistake is answered by a sentence, whoever notices it, and leaves no trace in the log. */
@ExtendWith(OutputCaptureExtension.class)
class WrongRequestsTest extends RunningApp {

    @Autowired
    private Connectors connectors;

    private String told(String firstLine, String header) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", connectors.platformPort())) {
            String request = firstLine + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + header + "\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "GET /%zz, 400", "GET /..;/settings, 400", "GET /%2e%2e/settings, 400", "GET /work?ms=%zz, 400",
        "GET /work?%zz=1, 400", "TRACE /fast, 405", "GET /error, 404", "GET /nothing, 404", "POST /fast, 403"})
    void isAnsweredByASentence(String firstLine, int status, CapturedOutput log) throws IOException {
        String told = told(firstLine, "Accept: */*");
        assertThat(told).startsWith("HTTP/1.1 " + status).contains("application/json").contains("{\"error\":\"");
        assertThat(told).doesNotContain("<html").doesNotContain("timestamp");
        assertThat(log.getAll()).doesNotContain("\tat ");
    }

    @Test
    void isJsonAlsoForWhoWantsNone(CapturedOutput log) throws IOException {
        assertThat(told("GET /fast", "Accept: image/png")).startsWith("HTTP/1.1 406").contains("{\"error\":\"");
        assertThat(told("GET /work?ms=x", "Accept: image/png")).startsWith("HTTP/1.1 400").contains("ms must be");
        assertThat(log.getAll()).doesNotContain("\tat ");
    }
}
