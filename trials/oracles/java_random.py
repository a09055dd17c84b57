"""Java's generator (java.util.Random), for draws that a Java program made."""

_MULTIPLIER, _ADDEND, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


class JavaRandom:
    """A linear congruential generator of 48 bits, of which the upper ones are drawn."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def _next(self) -> int:
        """31 bits."""
        self._state = (self._state * _MULTIPLIER + _ADDEND) & _MASK
        return self._state >> 17

    def next_int(self, below: int) -> int:
        """A whole number from 0: the high bits for a power of two, else the remainder, drawn again
        while it would favour small ones.
        """
        if below & (below - 1) == 0:
            return (below * self._next()) >> 31
        while True:
            drawn = self._next()
            found = drawn % below
            if drawn - found + below - 1 < 1 << 31:
                return found
