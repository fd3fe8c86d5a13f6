package waitlab.shared;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** What the processors have done so far: for this JVM, and in all, as Linux counts it. Only differences mean anything. */
final class Processors {

    /** Where the kernel does not tell. */
    static final long UNKNOWN = -1;

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final Path COUNTS = Path.of("/proc/stat");
    private static final int KINDS = 8;
    private static final int IDLE = 3;
    private static final int WAITS_FOR_DISK = 4;
    private static final int NS_PER_US = 1000;

    private String line = "";

    /** Processor time that this JVM has used, in microseconds. */
    long ofThisJvm() {
        return SYSTEM.getProcessCpuTime() / NS_PER_US;
    }

    /** Reads the machine's count: the time of all its processors, in the kernel's ticks. */
    long ofTheMachine() {
        try (Stream<String> lines = Files.lines(COUNTS)) {
            line = lines.findFirst().orElse("");
        } catch (IOException untold) {
            line = "";
        }
        return counted(line, true);
    }

    /** How much of what was read last they were busy, whoever kept them so. */
    long busyOfIt() {
        return counted(line, false);
    }

    /** The sum of a line like {@code cpu user nice system idle iowait irq softirq steal guest guest_nice}. */
    static long counted(String line, boolean idleToo) {
        String[] words = line.split("\\s+");
        if (words.length <= KINDS) {
            return UNKNOWN;
        }
        return LongStream.range(0, KINDS)
                .filter(kind -> idleToo || (kind != IDLE && kind != WAITS_FOR_DISK))
                .map(kind -> Long.parseLong(words[(int) kind + 1]))
                .sum();
    }
}
