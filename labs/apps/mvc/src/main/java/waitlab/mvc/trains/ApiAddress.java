package waitlab.mvc.trains;

import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;
import waitlab.shared.BadValue;

/**
 * Where the slow API is. Only the lab may say so, and only a server of the lab may be named: on the loopback, or by a
 * name that was given at the start. Whoever asks for arrivals chooses a station, and never an address.
 */
@Trains
@Component
class ApiAddress {

    private static final int LAST_PORT = 65_535;
    private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "[::1]");

    private final Set<String> hosts = new HashSet<>(LOOPBACK);
    private volatile URI base;

    ApiAddress(@Value("${lab.api.hosts:}") List<String> others, @Value("${lab.api.url:}") String url) {
        others.stream().map(String::strip).forEach(hosts::add);
        if (!url.isBlank()) {
            change(url);
        }
    }

    void change(String url) {
        URI asked = parsed(url);
        boolean plain = asked.getRawQuery() == null && asked.getRawFragment() == null && asked.getRawUserInfo() == null;
        if (!plain || !"http".equals(asked.getScheme()) || !hosts.contains(String.valueOf(asked.getHost()))
                || !Set.of("", "/").contains(asked.getRawPath())
                || asked.getPort() == 0
                || asked.getPort() > LAST_PORT) {
            throw new BadValue("url must be the address of a server of this lab, such as http://127.0.0.1:8080.");
        }
        base = URI.create("http://" + asked.getRawAuthority());
    }

    /** The API's address; null until somebody has said it. */
    URI base() {
        return base;
    }

    private static URI parsed(String url) {
        try {
            return URI.create(url);
        } catch (IllegalArgumentException malformed) {
            throw new BadValue("url must be an address.");
        }
    }
}
