package waitlab.mvc.trains;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** A ticket that somebody bought; it should exist only if the API has confirmed it. */
@Entity
@Table(name = "train_tickets")
class Ticket {

    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Long id;

    private String boughtBy;

    protected Ticket() {}

    Ticket(String buyer) {
        boughtBy = buyer;
    }
}
