package waitlab.mvc;

import java.util.Map;

/** A part of this app that has limits of its own to tell in {@code /settings}. */
public interface MoreSettings {

    /** Adds them to the answer. */
    void addTo(Map<String, Object> settings);
}
