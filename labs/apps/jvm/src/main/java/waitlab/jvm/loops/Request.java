package waitlab.jvm.loops;

/** One of the requests that come at once; every so many of them waits for something while it is served. */
record Request(int index, boolean blocking) {

    /** The series under which it is counted. */
    String series() {
        return blocking ? "blocking" : "normal";
    }

    /** Whether the request of that index is one of {@code blocking} that are spread evenly among {@code requests}. */
    static boolean blocks(int index, int blocking, int requests) {
        long before = (long) index * blocking / requests;
        return (index + 1L) * blocking / requests > before;
    }
}
