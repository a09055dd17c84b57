"""A fingerprint of the code that decides what an ideal machine computes."""

from functools import cache
from hashlib import blake2b
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def source_digest() -> str:
    """Sixteen hexadecimal digits over the text of this package.  Kept results and machine code
    carry it, so that neither outlives the code that made it.
    """
    digest = blake2b(digest_size=8)
    for path in sorted(_HERE.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
