package waitlab.shared;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What an app is told at its start; the names below {@code lab.} in application.properties and in the lab's own file.
 *
 * @param token what a request must show to change anything; without one nothing can be changed
 * @param portFile where to write the port, once it is bound
 * @param hosts names besides the loopback's under which this app may be addressed for changes
 * @param offloadPoolSize threads for offloaded blocking calls; null leaves Reactor's own pool in charge
 */
@ConfigurationProperties("lab")
public record LabProperties(
        String token,
        Path portFile,
        List<String> hosts,
        Integer offloadPoolSize,
        @DefaultValue Db db,
        @DefaultValue Pool jdbc,
        @DefaultValue Pool r2dbc) {

    /**
     * Where the database is, and who asks; {@code timeout} is how long an answer may take at most. A {@code url}
     * takes the place of host, port and name.
     */
    public record Db(
            String url,
            @DefaultValue("127.0.0.1") String host,
            @DefaultValue("5432") int port,
            @DefaultValue("lab") String name,
            @DefaultValue("lab") String user,
            @DefaultValue("") String password,
            @DefaultValue("5s") Duration connectTimeout,
            @DefaultValue("70s") Duration timeout) {}

    /** A connection pool: how many connections, and how long a caller may queue for one. */
    public record Pool(Integer poolSize, @DefaultValue("60s") Duration queueTimeout) {

        public Pool {
            poolSize = poolSize == null ? 10 : poolSize;
        }
    }
}
