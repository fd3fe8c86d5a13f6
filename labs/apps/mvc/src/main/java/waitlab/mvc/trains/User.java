package waitlab.mvc.trains;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** Somebody who waits for trains. */
@Entity
@Table(name = "train_users")
class User {

    @Id
    private int id;

    private String name;

    private String home;

    protected User() {}

    int id() {
        return id;
    }

    String name() {
        return name;
    }

    String home() {
        return home;
    }
}
