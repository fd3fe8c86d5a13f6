package waitlab.shared;

import java.util.List;
import java.util.stream.IntStream;

/** The trains that will arrive at a station: what the slow API answers, and what its clients read. */
public record Arrivals(String station, List<Train> arrivals) {

    private static final List<String> TO = List.of("Chur", "Brig", "Basel", "Lugano", "Genf", "Olten", "Thun", "Zug");
    private static final int SHOWN = 6;
    private static final int APART = 7;

    /** One train. */
    public record Train(String train, String to, int platform, int inMinutes) {}

    /** The same station always has the same trains: nothing here is random. */
    public static Arrivals at(String station) {
        int first = Math.floorMod(station.hashCode(), TO.size());
        return new Arrivals(station, IntStream.range(0, SHOWN).mapToObj(i -> train(first + i, i)).toList());
    }

    private static Train train(int number, int place) {
        String kind = number % 2 == 0 ? "IC " : "S ";
        return new Train(kind + (number + 1), TO.get(number % TO.size()), 1 + number % SHOWN, 2 + APART * place);
    }
}
