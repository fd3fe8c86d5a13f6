package waitlab.webflux;

import java.time.Duration;
import org.springframework.jdbc.core.simple.JdbcClient;
import waitlab.shared.Reply;
import waitlab.shared.Waits;

/** A query through JDBC: the calling thread waits for the connection and for the answer. */
class BlockingDatabase {

    private final JdbcClient client;

    BlockingDatabase(JdbcClient client) {
        this.client = client;
    }

    Reply sleep(Duration wait) {
        return Reply.of(() -> query(wait));
    }

    void query(Duration wait) {
        client.sql("select pg_sleep(?)").param(Waits.inSeconds(wait)).query(_ -> {});
    }
}
