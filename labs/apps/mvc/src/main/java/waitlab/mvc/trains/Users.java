package waitlab.mvc.trains;

import org.springframework.data.jpa.repository.JpaRepository;

/** The users; every call outside a transaction has a short one of its own. */
interface Users extends JpaRepository<User, Integer> {

    long countByHome(String home);
}
