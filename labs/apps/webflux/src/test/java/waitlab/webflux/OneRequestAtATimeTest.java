package waitlab.webflux;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.net.Socket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** A request that comes in after the reply to the one before, but before the server has put that one away. */
class OneRequestAtATimeTest {

    private static final int NEVER_MS = 5_000;
    private static final String EMPTY = "GET /empty HTTP/1.1\r\nHost: here\r\n\r\n";
    private static final String STREAM = "GET /stream HTTP/1.1\r\nHost: here\r\n\r\n";
    private static final String KEPT = "GET /kept HTTP/1.1\r\nHost: here\r\n\r\n";
    private static final String LAST = "GET /last HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";

    private final Sinks.Empty<Void> nextRequestIsHere = Sinks.empty();
    private DisposableServer server;

    @BeforeEach
    void start() {
        server = new AppConfiguration()
                .socket(new Listener())
                .apply(HttpServer.create().port(0))
                .doOnChannelInit((_, channel, _) -> announceSecondRead(channel))
                .handle(this::answer)
                .bindNow();
    }

    @AfterEach
    void stop() {
        server.disposeNow();
    }

    /** The path as body, or none; two paths have sent it all, and end only when the next request's bytes are here. */
    private Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        String body = bodyOf(request.uri());
        Flux<ByteBuf> bytes = Flux.just(Unpooled.copiedBuffer(body, US_ASCII));
        Mono<ByteBuf> nothingMore = nextRequestIsHere.asMono().cast(ByteBuf.class);
        response.header("Content-Length", Integer.toString(body.length()));
        return switch (request.uri()) {
            case "/empty" -> response.sendHeaders().then(nextRequestIsHere.asMono());
            case "/stream" -> response.send(bytes.concatWith(nothingMore), _ -> true);
            default -> response.send(bytes.next());
        };
    }

    private static String bodyOf(String path) {
        return path.equals("/empty") ? "" : path;
    }

    private void announceSecondRead(Channel channel) {
        channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            private int reads;

            @Override
            public void channelRead(ChannelHandlerContext context, Object bytes) {
                context.fireChannelRead(bytes);
                reads++;
                if (reads == 2) {
                    nextRequestIsHere.tryEmitEmpty();
                }
            }
        });
    }

    /** All that the server says to these requests, each sent after the reply to the one before, until it hangs up. */
    private String answersTo(String... requests) throws IOException {
        StringBuilder answers = new StringBuilder();
        try (Socket socket = new Socket("127.0.0.1", server.port())) {
            socket.setSoTimeout(NEVER_MS);
            for (int i = 0; i < requests.length - 1; i++) {
                send(socket, requests[i]);
                String end = "\r\n\r\n" + bodyOf(requests[i].split(" ")[1]);
                while (!answers.toString().endsWith(end)) {
                    answers.append((char) socket.getInputStream().read());
                }
            }
            send(socket, requests[requests.length - 1]);
            byte[] rest = socket.getInputStream().readAllBytes();
            return answers.append(new String(rest, US_ASCII)).toString();
        }
    }

    private static void send(Socket socket, String request) throws IOException {
        socket.getOutputStream().write(request.getBytes(US_ASCII));
    }

    @ParameterizedTest
    @ValueSource(strings = {LAST, "GET /last HTTP/1.0\r\n\r\n"})
    void theLastRequestIsAnsweredAndTheConnectionClosed(String last) throws IOException {
        assertThat(answersTo(EMPTY, last)).endsWith("/last");
    }

    @ParameterizedTest
    @ValueSource(strings = {LAST, KEPT + LAST, KEPT + KEPT + LAST})
    void aReplyThatIsCompleteForTheClientAloneIsEndedFirst(String rest) throws IOException {
        assertThat(answersTo(STREAM, rest)).contains("/stream").endsWith("/last");
    }

    @Test
    void aBodyFollowsItsRequest() throws IOException {
        String last = "PUT /last HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
        assertThat(answersTo(EMPTY, last)).endsWith("/last");
    }

    @Test
    void aKeptConnectionGoesOn() throws IOException {
        assertThat(answersTo(EMPTY, KEPT, KEPT, LAST)).containsSubsequence("/kept", "/kept", "/last");
    }

    @Test
    void requestsSentAtOnceAreAnsweredInTheirOrder() throws IOException {
        assertThat(answersTo(EMPTY, KEPT + KEPT + LAST)).containsSubsequence("/kept", "/kept", "/last");
    }
}
