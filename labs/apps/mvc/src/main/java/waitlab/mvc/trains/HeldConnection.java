package waitlab.mvc.trains;

import jakarta.persistence.EntityManagerFactory;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Whether this thread's persistence context keeps a database connection: the one of a transaction, or of the view. */
@Trains
@Component
class HeldConnection {

    private final EntityManagerFactory factory;

    HeldConnection(EntityManagerFactory factory) {
        this.factory = factory;
    }

    /** Asked from Hibernate itself. */
    boolean now() {
        return TransactionSynchronizationManager.getResource(factory) instanceof EntityManagerHolder holder
                && holder.getEntityManager().isOpen()
                && holder.getEntityManager()
                        .unwrap(SharedSessionContractImplementor.class)
                        .getJdbcCoordinator()
                        .getLogicalConnection()
                        .isPhysicallyConnected();
    }
}
