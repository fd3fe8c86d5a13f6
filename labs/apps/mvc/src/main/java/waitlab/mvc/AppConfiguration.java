package waitlab.mvc;

import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import waitlab.shared.Guard;
import waitlab.shared.JdbcPool;
import waitlab.shared.LabProperties;
import waitlab.shared.PortFile;

/** Wires the parts; the auto-configuration of data sources is not used, so every pool setting is in sight. */
@Configuration(proxyBeanMethods = false)
class AppConfiguration {

    @Bean
    JdbcPool jdbcPool(LabProperties lab, MeterRegistry meters) {
        return new JdbcPool(lab, meters);
    }

    @Bean
    Database database(JdbcPool pool) {
        return new Database(pool.client());
    }

    @Bean
    WorkerCount workerCount() {
        return new WorkerCount();
    }

    @Bean
    Guard guard(LabProperties lab) {
        return new Guard(lab.token(), lab.hosts());
    }

    @Bean
    PortFile portFile(LabProperties lab) {
        return new PortFile(lab.portFile());
    }
}
