package waitlab.mvc;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import waitlab.shared.LabProperties;

/** A thread for every request, from a pool or virtual; {@link WorkHandlers} and {@link Connectors} are read first. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableConfigurationProperties({LabProperties.class, MvcProperties.class})
public class MvcApp {

    public static void main(String[] args) {
        SpringApplication.run(MvcApp.class, args);
    }
}
