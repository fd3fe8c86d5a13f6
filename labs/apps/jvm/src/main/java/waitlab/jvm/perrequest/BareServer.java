package waitlab.jvm.perrequest;

import java.io.IOException;
import java.io.Reader;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import waitlab.jvm.Json;
import waitlab.jvm.Options;
import waitlab.shared.Backlog;
import waitlab.shared.Guard;
import waitlab.shared.PortNote;

/**
 * A thread for every request, and nothing else. Two ports lead to the same work, one onto a pool of platform threads,
 * one onto a virtual thread for each task; a third answers questions, whatever the workers do.
 */
public final class BareServer {

    private static final int POOL_SIZE = 200;
    private static final int LARGEST_PORT = 65_535;

    private final String address;
    private final String model;
    private final Workers workers;
    private final Map<String, Object> fixed = new LinkedHashMap<>();
    private final Map<String, Integer> ports = new LinkedHashMap<>();
    private final Handlers handlers;
    // snippet: virtual
    private final Executor virtual = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("virtual-", 1).factory());
    // end

    private BareServer(Options options) throws IOException {
        address = options.variable("LAB_ADDRESS").orElse("127.0.0.1");
        model = options.choice("model", "request", "connection");
        workers = new Workers(options.whole("pool_size", POOL_SIZE, 1, Workers.LARGEST));
        handlers = new Handlers(workers, guard(options), fixed);
        fixed.put("model", model);
        fixed.put("backlog", Backlog.inForce());
    }

    /**
     * The experiment {@code server}: {@code --pool_size}, {@code --model request|connection}, and {@code --lab_port},
     * {@code --lab_virtual_port}, {@code --lab_control_port} (0: a free one). It serves until the process is stopped.
     * Answers the three ports by name.
     */
    public static Map<String, Integer> run(Options options) throws IOException {
        BareServer server = new BareServer(options);
        int port = options.whole("lab_port", 0, 0, LARGEST_PORT);
        int virtualPort = options.whole("lab_virtual_port", 0, 0, LARGEST_PORT);
        int controlPort = options.whole("lab_control_port", 0, 0, LARGEST_PORT);
        options.nothingElse();
        server.listen(port, virtualPort);
        server.answerQuestions(controlPort);
        server.sayReady(options);
        return server.ports;
    }

    private void listen(int port, int virtualPort) throws IOException {
        if (model.equals("connection")) {
            HeldDoor door = new HeldDoor(handlers::all);
            ports.put("port", door.listen(at(port), workers, "acceptor"));
            ports.put("virtual_port", door.listen(at(virtualPort), virtual, "virtual-acceptor"));
        } else {
            Door door = new Door(handlers::all);
            ports.put("port", door.listen(at(port), workers));
            ports.put("virtual_port", door.listen(at(virtualPort), virtual));
            door.open("door");
        }
    }

    private void answerQuestions(int port) throws IOException {
        Door control = new Door(handlers::control);
        ports.put("control_port", control.listen(at(port), Runnable::run));
        fixed.putAll(ports);
        control.open("control");
    }

    private void sayReady(Options options) {
        Map<String, Object> ready = new LinkedHashMap<>(Map.of("event", "ready"));
        ready.put("pid", ProcessHandle.current().pid());
        ready.putAll(fixed);
        ready.put("pool_size", workers.size());
        options.variable("LAB_PORT_FILE").map(Path::of).ifPresent(file -> PortNote.write(file, ports.get("port")));
        Json.print(ready);
    }

    private InetSocketAddress at(int port) {
        return new InetSocketAddress(address, port);
    }

    private static Guard guard(Options options) throws IOException {
        List<String> hosts = options.variable("LAB_HOSTS").map(names -> List.of(names.split(","))).orElse(List.of());
        return new Guard(token(options), hosts);
    }

    /** The lab's token: alone in a file, or as {@code lab.token} in the file that Spring's apps read too. */
    private static String token(Options options) throws IOException {
        Optional<String> alone = options.variable("LAB_TOKEN_FILE");
        if (alone.isPresent()) {
            return Files.readString(Path.of(alone.get())).strip();
        }
        Properties told = new Properties();
        Optional<String> file = options.variable("SPRING_CONFIG_IMPORT").map(name -> name.replaceFirst("^file:", ""));
        if (file.isPresent()) {
            try (Reader reader = Files.newBufferedReader(Path.of(file.get()))) {
                told.load(reader);
            }
        }
        return told.getProperty("lab.token");
    }
}
