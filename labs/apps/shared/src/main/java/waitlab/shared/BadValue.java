package waitlab.shared;

/** A value from outside that is not accepted; the message is a sentence for the person who sent it. */
public class BadValue extends RuntimeException {

    public BadValue(String sentence) {
        super(sentence);
    }
}
