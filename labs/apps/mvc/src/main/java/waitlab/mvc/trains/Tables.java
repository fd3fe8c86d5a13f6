package waitlab.mvc.trains;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import waitlab.shared.JdbcPool;

/**
 * The tables behind the trains. They are made by the first request that needs them and not at the start, since the
 * database may come up after this server; and looked for again after {@link #doubt}, since it may have come up anew.
 */
@Trains
@Component
class Tables {

    /** Users have the numbers from 1 to this. */
    static final int USERS = 1_000;

    private static final String[] MADE_BY = {
        "create table if not exists train_users"
                + " (id int primary key, name varchar(40) not null, home varchar(40) not null)",
        "create table if not exists train_tickets"
                + " (id bigint generated always as identity primary key, bought_by varchar(40) not null)"
    };
    private static final String FILLED_BY = "insert into train_users"
            + " select n, 'user ' || n, case mod(n, 2) when 0 then 'Bern' else 'Chur' end"
            + " from generate_series(1, " + USERS + ") as numbers(n) on conflict do nothing";

    private final JdbcClient client;
    private volatile boolean there;

    Tables(JdbcPool pool) {
        client = pool.client();
    }

    /** Returns when the tables are there. */
    void ready() {
        if (!there) {
            make();
        }
    }

    /** The tables may have gone. */
    void doubt() {
        there = false;
    }

    private synchronized void make() {
        if (there) {
            return;
        }
        for (String statement : MADE_BY) {
            client.sql(statement).update();
        }
        client.sql(FILLED_BY).update();
        there = true;
    }
}
