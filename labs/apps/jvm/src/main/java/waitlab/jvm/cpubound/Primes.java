package waitlab.jvm.cpubound;

/** A piece of work that only computes. */
final class Primes {

    private Primes() {}

    // snippet: primes
    /** How many primes there are below this number, found by dividing. */
    static int below(int end) {
        int found = 0;
        for (int n = 2; n < end; n++) {
            if (isPrime(n)) {
                found++;
            }
        }
        return found;
    }
    // end

    private static boolean isPrime(int n) {
        for (int d = 2; d * d <= n; d++) {
            if (n % d == 0) {
                return false;
            }
        }
        return true;
    }
}
