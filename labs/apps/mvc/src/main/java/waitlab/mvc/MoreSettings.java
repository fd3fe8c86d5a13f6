package waitlab.mvc;

import java.util.Map;

/** A part of this app that has limits of its own to tell in {@code /settings}, and perhaps threads of its own. */
public interface MoreSettings {

    /** Adds them to the answer. */
    void addTo(Map<String, Object> settings);

    /** Sends its idle threads home, before threads are counted anew. */
    default void shedIdle() {}
}
