package waitlab.shared;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Decides who may change this server: only the lab that started it, and never a web page from elsewhere. */
public final class Guard {

    /** The header that carries the lab's token. */
    public static final String TOKEN_HEADER = "X-Lab-Token";

    private static final Set<String> READING = Set.of("GET", "HEAD");
    private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "[::1]");

    private final byte[] token;
    private final Set<String> hosts = new HashSet<>(LOOPBACK);

    /** The lab's token (without one nothing can be changed), and names besides the loopback's; both may be null. */
    public Guard(String labToken, List<String> otherHosts) {
        token = labToken == null ? new byte[0] : labToken.getBytes(StandardCharsets.UTF_8);
        for (String host : otherHosts == null ? List.<String>of() : otherHosts) {
            hosts.add(host.strip().toLowerCase(Locale.ROOT));
        }
    }

    /** Why a request is refused, as a sentence; empty when it may pass. Reading is open to everyone. */
    public Optional<String> refusal(String method, String host, String origin, String shownToken) {
        if (READING.contains(method)) {
            return Optional.empty();
        }
        if (!ours(host)) {
            return Optional.of("This server is not changed under another host's name.");
        }
        if (origin != null && !oursAsOrigin(origin)) {
            return Optional.of("This server is not changed from a page of another origin.");
        }
        return rightToken(shownToken) ? Optional.empty() : Optional.of("The lab's token is missing or wrong.");
    }

    private boolean oursAsOrigin(String origin) {
        try {
            return ours(URI.create(origin).getAuthority());
        } catch (IllegalArgumentException malformed) {
            return false;
        }
    }

    private boolean ours(String authority) {
        return authority != null && hosts.contains(authority.replaceFirst(":[0-9]*$", "").toLowerCase(Locale.ROOT));
    }

    private boolean rightToken(String shown) {
        return token.length > 0
                && shown != null
                && MessageDigest.isEqual(token, shown.getBytes(StandardCharsets.UTF_8));
    }
}
