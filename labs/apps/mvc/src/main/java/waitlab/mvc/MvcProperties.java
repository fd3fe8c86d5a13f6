package waitlab.mvc;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * What this app is told at its start besides {@link waitlab.shared.LabProperties}.
 *
 * @param poolSize workers behind the first port
 * @param virtualPort the port with a virtual thread for every request; 0 takes a free one
 */
@ConfigurationProperties("lab.mvc")
record MvcProperties(int poolSize, int virtualPort) {}
