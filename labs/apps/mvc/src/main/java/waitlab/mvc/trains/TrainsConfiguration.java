package waitlab.mvc.trains;

import java.net.http.HttpClient.Version;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.boot.http.client.ClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.HttpClientSettings;
import org.springframework.boot.http.client.JdkClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.ReactorClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import org.springframework.boot.http.client.autoconfigure.reactive.ClientHttpConnectorBuilderCustomizer;
import org.springframework.boot.http.client.reactive.ReactorClientHttpConnectorBuilder;
import org.springframework.boot.restclient.RestTemplateBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import waitlab.mvc.trains.TrainClients.Blocking;
import waitlab.shared.JdbcPool;

/**
 * The clients, made equal: one HTTP version, the same time-outs (spring.http.clients), and no limit of connections
 * that a run could reach. JPA takes its connections from the pool that the rest of this app uses.
 */
@Trains
@Configuration(proxyBeanMethods = false)
class TrainsConfiguration {

    /** The JDK's client knows no limit of connections; WebClient's is set above all that may be in flight. */
    static final int CONNECTIONS = 10_000;

    /** How long a call waits for a connection of WebClient's pool: Reactor Netty's own value, never reached here. */
    static final Duration PENDING_ACQUIRE = Duration.ofSeconds(45);

    static final Version HTTP_VERSION = Version.HTTP_1_1;

    @Bean
    DataSource dataSource(JdbcPool pool) {
        return pool.dataSource();
    }

    @Bean(destroyMethod = "dispose")
    ConnectionProvider apiConnections() {
        return ConnectionProvider.builder("api")
                .maxConnections(CONNECTIONS)
                .pendingAcquireTimeout(PENDING_ACQUIRE)
                .build();
    }

    @Bean
    ClientHttpConnectorBuilderCustomizer<ReactorClientHttpConnectorBuilder> webClientConnections(
            ConnectionProvider api) {
        return builder -> builder.withHttpClientFactory(() -> HttpClient.create(api));
    }

    @Bean
    ClientHttpRequestFactoryBuilderCustomizer<JdkClientHttpRequestFactoryBuilder> jdkClient(ClientWorkers workers) {
        return builder -> builder.withExecutor(workers)
                .withHttpClientCustomizer(client -> client.version(HTTP_VERSION));
    }

    /** As spring.http.clients.imperative.factory=jdk has it. */
    @Bean
    Blocking jdk(ClientHttpRequestFactory chosen, RestTemplateBuilder templates, RestClient.Builder clients) {
        return on(chosen, templates, clients);
    }

    /** As Spring Boot has it where nobody chooses: Reactor Netty, since WebClient brought it along. */
    @Bean
    Blocking detected(
            ConnectionProvider api,
            HttpClientSettings settings,
            RestTemplateBuilder templates,
            RestClient.Builder clients) {
        ClientHttpRequestFactoryBuilder<?> found = ClientHttpRequestFactoryBuilder.detect();
        if (found instanceof ReactorClientHttpRequestFactoryBuilder reactor) {
            found = reactor.withHttpClientFactory(() -> HttpClient.create(api));
        }
        return on(found.build(settings), templates, clients);
    }

    @Bean
    WebClient webClient(WebClient.Builder builder) {
        return builder.build();
    }

    /** Both clients on one library, which has its time-outs already. */
    private static Blocking on(
            ClientHttpRequestFactory library, RestTemplateBuilder templates, RestClient.Builder clients) {
        HttpClientSettings none = HttpClientSettings.defaults();
        return new Blocking(
                templates.clientSettings(none).requestFactory(() -> library).build(),
                clients.requestFactory(library).build());
    }
}
