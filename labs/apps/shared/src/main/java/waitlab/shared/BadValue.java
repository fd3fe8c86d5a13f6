package waitlab.shared;

/** A value from outside that is not accepted; the message is a sentence for the person who sent it. */
public class BadValue extends RuntimeException {

    private static final long serialVersionUID = 1;

    public BadValue(String sentence) {
        super(sentence);
    }
}
