"""What of the catalogue of `trials.situations` this process has met.

Every run that `tests.support.world.play` plays is held against it; a run of the whole suite that
leaves an entry unmet fails (`tests/conftest.py`).
"""

from trials.situations import Situations

_HERE = Situations()

notice = _HERE.notice
unmet = _HERE.unmet
