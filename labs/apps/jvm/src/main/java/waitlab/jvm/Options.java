package waitlab.jvm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import waitlab.shared.BadValue;
import waitlab.shared.Waits;

/** The options of an experiment ({@code --name value}), and the environment it was started in. */
public final class Options {

    private final Map<String, String> given = new HashMap<>();
    private final Map<String, String> environment;

    private Options(Map<String, String> environment) {
        this.environment = environment;
    }

    /** Reads what comes after the experiment's name. */
    public static Options of(String[] args, Map<String, String> environment) {
        Options options = new Options(environment);
        for (int i = 1; i < args.length; i += 2) {
            if (!args[i].startsWith("--") || i + 1 == args.length) {
                throw new BadValue("Options come in pairs, --name value; '" + args[i] + "' does not.");
            }
            options.given.put(args[i].substring(2), args[i + 1]);
        }
        return options;
    }

    /** A whole number in this range, or {@code usual}. */
    public int whole(String name, int usual, int smallest, int largest) {
        return Waits.whole(name, value(name).orElse(null), usual, smallest, largest);
    }

    /** One of these words; the first is the usual one. */
    public String choice(String name, String... words) {
        String word = value(name).orElse(words[0]);
        if (!List.of(words).contains(word)) {
            throw new BadValue(name + " must be one of " + String.join(", ", words) + ".");
        }
        return word;
    }

    /** A variable of the environment, if it is set and not empty. */
    public Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }

    private Optional<String> value(String name) {
        Optional<String> said = Optional.ofNullable(given.remove(name));
        return said.isPresent() ? said : variable(name.toUpperCase(Locale.ROOT));
    }

    /** Refuses what nobody has asked for by now. */
    public void nothingElse() {
        if (!given.isEmpty()) {
            throw new BadValue("There is no option --" + String.join(", --", new ArrayList<>(given.keySet())) + " here.");
        }
    }
}
