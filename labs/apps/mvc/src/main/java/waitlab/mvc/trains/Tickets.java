package waitlab.mvc.trains;

import org.springframework.data.jpa.repository.JpaRepository;

/** The tickets. */
interface Tickets extends JpaRepository<Ticket, Long> {}
