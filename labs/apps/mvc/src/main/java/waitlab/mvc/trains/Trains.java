package waitlab.mvc.trains;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Profile;

/** Marks what exists only where the trains were asked for: the profile {@code trains}. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Profile("trains")
@interface Trains {}
