package waitlab.mvc;

import java.time.Duration;
import org.springframework.jdbc.core.simple.JdbcClient;
import waitlab.shared.Waits;

/** A query through JDBC: the calling thread waits for the connection and for the answer. */
class Database {

    private final JdbcClient client;

    Database(JdbcClient client) {
        this.client = client;
    }

    void query(Duration wait) {
        client.sql("select pg_sleep(?)").param(Waits.inSeconds(wait)).query(_ -> {});
    }
}
