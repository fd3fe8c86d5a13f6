package waitlab.webflux;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import waitlab.shared.LabProperties;

/** A WebFlux server with one endpoint for each way of waiting; {@link WaitingHandlers} is the place to read first. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableConfigurationProperties(LabProperties.class)
public class WebfluxApp {

    public static void main(String[] args) {
        if ("1".equals(System.getenv("BLOCKHOUND"))) {
            BlockingReports.install();
        }
        SpringApplication.run(WebfluxApp.class, args);
    }
}
