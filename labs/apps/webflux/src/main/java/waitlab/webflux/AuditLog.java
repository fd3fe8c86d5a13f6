package waitlab.webflux;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.FileAppender;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;

/** A logger as many applications have one: a file appender without a queue, so that whoever logs also writes. */
final class AuditLog {

    private static final String NAME = "audit";

    private AuditLog() {}

    /** The logger; its file is a temporary one, and starts anew with each start of the app. */
    static Logger open() {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%d %thread %msg%n");
        encoder.start();
        FileAppender<ILoggingEvent> appender = new FileAppender<>();
        appender.setContext(context);
        appender.setEncoder(encoder);
        appender.setFile(file().toString());
        appender.setAppend(false);
        appender.start();
        Logger logger = context.getLogger(NAME);
        logger.setAdditive(false);
        logger.setLevel(Level.INFO);
        logger.addAppender(appender);
        return logger;
    }

    private static Path file() {
        try {
            Path file = Files.createTempFile(NAME, ".log");
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException refused) {
            throw new UncheckedIOException(refused);
        }
    }
}
