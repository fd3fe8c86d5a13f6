package waitlab.jvm.cpubound;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrimesTest {

    @Test
    void thePrimesBelowAreCounted() {
        assertThat(Primes.below(10)).isEqualTo(4);
        assertThat(Primes.below(100)).isEqualTo(25);
        assertThat(Primes.below(5_000)).isEqualTo(669);
    }
}
