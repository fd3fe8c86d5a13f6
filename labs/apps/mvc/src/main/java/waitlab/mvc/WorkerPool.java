package waitlab.mvc;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;
import org.springframework.stereotype.Component;
import waitlab.shared.LabClock;

/** The threads behind the first port, as Tomcat's own executor counts them; their number changes while it serves. */
@Component
public class WorkerPool {

    /** The largest size that is accepted. */
    static final int LARGEST = 5_000;

    private static final long SHED_US = 2_000_000;
    private static final long LOOK_AGAIN_NS = 1_000_000;

    private final Connectors connectors;

    WorkerPool(Connectors connectors) {
        this.connectors = connectors;
    }

    /** The most threads that may live; read back from the executor that enforces it. */
    int size() {
        return executor().getMaximumPoolSize();
    }

    int alive() {
        return executor().getPoolSize();
    }

    /** Threads that serve a request at this moment. */
    public int busy() {
        return executor().getActiveCount();
    }

    /** Requests that no worker has taken yet. */
    int waiting() {
        return executor().getQueue().size();
    }

    /** Changes the pool now. Running requests finish; no spare threads are kept, so any size from 1 will do. */
    void resize(int size) {
        connectors.platformProtocol().setMaxThreads(size);
    }

    /**
     * Sends idle workers home, so that the next run starts with none and counts only its own. A worker that serves the
     * very request which asks for this stays.
     */
    synchronized void shedIdle() {
        long usual = executor().getKeepAliveTime(TimeUnit.MILLISECONDS);
        executor().setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        try {
            long deadline = LabClock.nowUs() + SHED_US;
            while (executor().getPoolSize() > executor().getActiveCount() && LabClock.nowUs() < deadline) {
                LockSupport.parkNanos(LOOK_AGAIN_NS);
            }
        } finally {
            executor().setKeepAliveTime(usual, TimeUnit.MILLISECONDS);
        }
    }

    private ThreadPoolExecutor executor() {
        return (ThreadPoolExecutor) connectors.platformProtocol().getExecutor();
    }
}
