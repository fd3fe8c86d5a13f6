package waitlab.webflux;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.time.Duration;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.r2dbc.core.DatabaseClient;
import waitlab.shared.Guard;
import waitlab.shared.JdbcPool;
import waitlab.shared.LabProperties;
import waitlab.shared.PortFile;

/** Wires the parts; the auto-configuration of data sources is not used, so every pool setting is in sight. */
@Configuration(proxyBeanMethods = false)
class AppConfiguration {

    /** Connections that wait to be accepted: more than any burst of the lab, so that none is dropped. */
    static final int BACKLOG = 4096;

    @Bean
    JdbcPool jdbcPool(LabProperties lab, MeterRegistry meters) {
        return new JdbcPool(lab, meters);
    }

    @Bean
    R2dbcPool r2dbcPool(LabProperties lab) {
        return new R2dbcPool(lab);
    }

    @Bean
    BlockingDatabase blockingDatabase(JdbcPool pool) {
        return new BlockingDatabase(pool.client());
    }

    @Bean
    ReactiveDatabase reactiveDatabase(R2dbcPool pool, LabProperties lab) {
        return new ReactiveDatabase(DatabaseClient.create(pool), lab.db().timeout());
    }

    @Bean
    OffloadPool offloadPool(LabProperties lab) {
        OffloadPool pool = new OffloadPool();
        if (lab.offloadPoolSize() != null) {
            pool.resize(lab.offloadPoolSize());
        }
        return pool;
    }

    @Bean
    SlowNeighbour slowNeighbour() throws IOException {
        return new SlowNeighbour();
    }

    @Bean
    Listener listener() {
        return new Listener();
    }

    @Bean
    NettyServerCustomizer socket(Listener listener) {
        return server -> OneRequestAtATime.on(server)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .doOnBound(listener::bound);
    }

    /** Loops that end at once when the server stops, where two seconds of quiet are the default. */
    @Bean
    ReactorResourceFactory reactorResources() {
        ReactorResourceFactory resources = new ReactorResourceFactory();
        resources.setShutdownQuietPeriod(Duration.ZERO);
        resources.setShutdownTimeout(Duration.ofSeconds(1));
        return resources;
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
