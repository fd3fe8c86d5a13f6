package waitlab.shared;

/** What a work endpoint answers: the thread that did the work, and when it held it (microseconds, {@link LabClock}). */
public record Reply(String thread, long startedUs, long endedUs) {

    /** Runs the work here and now, and says which thread it held and for how long. */
    public static Reply of(Runnable work) {
        long started = LabClock.nowUs();
        work.run();
        return new Reply(Thread.currentThread().getName(), started, LabClock.nowUs());
    }

    /** The same reply with the names of the threads before and after the hand-over; called after it. */
    public Moved continuedHere() {
        return new Moved(thread, startedUs, endedUs, thread, Thread.currentThread().getName());
    }

    /** A reply that changed threads on its way: {@code before} ran the work, {@code after} carried on. */
    public record Moved(String thread, long startedUs, long endedUs, String before, String after) {}
}
