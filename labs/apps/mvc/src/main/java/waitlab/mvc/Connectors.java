package waitlab.mvc;

import java.net.InetAddress;
import java.time.Duration;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.AbstractProtocol;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.tomcat.util.threads.VirtualThreadExecutor;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.stereotype.Component;
import waitlab.shared.Backlog;

/**
 * Two ports into the same handlers. They differ in one thing: who runs a request, a pool of platform threads or a
 * virtual thread made for it. All other limits are the same, and above any burst of the lab.
 */
@Component
class Connectors implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {

    /** Connections held open at once, busy and silent ones together. */
    static final int MAX_CONNECTIONS = 10_000;

    /** A client that says nothing is not hung up on within a run. */
    private static final int SILENCE_MS = (int) Duration.ofMinutes(5).toMillis();

    private static final int NO_LIMIT = -1;

    private final MvcProperties mvc;
    private final InetAddress address;
    private final Connector virtual = new Connector(new Http11NioProtocol());
    private volatile Connector platform;

    Connectors(MvcProperties mvc, ServerProperties server) {
        this.mvc = mvc;
        address = server.getAddress();
    }

    @Override
    public void customize(TomcatServletWebServerFactory factory) {
        factory.addConnectorCustomizers(this::onPool);
        factory.addAdditionalConnectors(onVirtualThreads());
    }

    // snippet: connectors
    private void onPool(Connector connector) {
        protocol(connector).setMaxThreads(mvc.poolSize());
        protocol(connector).setMinSpareThreads(0);
        limits(connector);
        platform = connector;
    }

    private Connector onVirtualThreads() {
        protocol(virtual).setExecutor(new VirtualThreadExecutor("virtual-"));
        limits(virtual);
        return virtual;
    }
    // end

    private void limits(Connector connector) {
        AbstractHttp11Protocol<?> protocol = protocol(connector);
        protocol.setAcceptCount(Backlog.ASKED);
        protocol.setMaxConnections(MAX_CONNECTIONS);
        protocol.setMaxKeepAliveRequests(NO_LIMIT);
        protocol.setConnectionTimeout(SILENCE_MS);
        protocol.setKeepAliveTimeout(SILENCE_MS);
        if (connector == virtual) {
            protocol.setAddress(address);
            connector.setPort(mvc.virtualPort());
        }
    }

    int platformPort() {
        return platform.getLocalPort();
    }

    int virtualPort() {
        return virtual.getLocalPort();
    }

    AbstractProtocol<?> platformProtocol() {
        return protocol(platform);
    }

    private static AbstractHttp11Protocol<?> protocol(Connector connector) {
        return (AbstractHttp11Protocol<?>) connector.getProtocolHandler();
    }
}
