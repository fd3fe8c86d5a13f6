package waitlab.shared;

import com.zaxxer.hikari.HikariDataSource;

/** A pool of connections to the lab's database, which connects when it is first asked. */
final class JdbcSource {

    private JdbcSource() {}

    static HikariDataSource of(LabProperties.Db db) {
        HikariDataSource made = new HikariDataSource();
        made.setPoolName("jdbc");
        made.setUsername(db.user());
        made.setPassword(db.password());
        made.setInitializationFailTimeout(-1);
        if (db.url() == null) {
            speaksPostgres(made, db);
        } else {
            made.setJdbcUrl(db.url());
        }
        return made;
    }

    private static void speaksPostgres(HikariDataSource made, LabProperties.Db db) {
        made.setJdbcUrl("jdbc:postgresql://%s:%d/%s".formatted(db.host(), db.port(), db.name()));
        made.addDataSourceProperty("connectTimeout", db.connectTimeout().toSeconds());
        made.addDataSourceProperty("socketTimeout", db.timeout().toSeconds());
        made.addDataSourceProperty("sslmode", "disable");
        made.addDataSourceProperty("gssEncMode", "disable");
    }
}
