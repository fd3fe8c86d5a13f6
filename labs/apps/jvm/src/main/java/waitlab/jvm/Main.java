package waitlab.jvm;

import java.util.Map;
import java.util.TreeMap;
import waitlab.jvm.admission.Admission;
import waitlab.jvm.cpubound.CpuBound;
import waitlab.jvm.loops.Loops;
import waitlab.jvm.perrequest.BareServer;
import waitlab.jvm.pressure.Pressure;
import waitlab.shared.BadValue;

/**
 * {@code java -jar jvm.jar EXPERIMENT --name value ...}: prints one JSON object a line. An option that is not given is
 * looked up in the environment, as {@code NAME}; the experiment's name may come as {@code -Dwaitlab.experiment=} too.
 */
public final class Main {

    private static final int WRONG_ARGUMENT = 2;

    private static final Map<String, Experiment> EXPERIMENTS = new TreeMap<>(Map.of(
            "admission", Admission::run,
            "cpu-bound", CpuBound::run,
            "loops", Loops::run,
            "pressure", Pressure::run,
            "server", BareServer::run));

    /** One experiment; it ends when it returns, or serves until it is stopped. */
    @FunctionalInterface
    interface Experiment {
        void run(Options options) throws Exception;
    }

    private Main() {}

    public static void main(String[] args) throws Exception {
        try {
            String name = args.length == 0 ? System.getProperty("waitlab.experiment", "") : args[0];
            Experiment chosen = EXPERIMENTS.get(name);
            if (chosen == null) {
                throw new BadValue("Name an experiment first, one of: " + String.join(", ", EXPERIMENTS.keySet()) + ".");
            }
            chosen.run(Options.of(args, System.getenv()));
        } catch (BadValue wrong) {
            System.err.println(wrong.getMessage());
            System.exit(WRONG_ARGUMENT);
        }
    }
}
