"""Leave Callboard's own asserts as they are: importing this, before anything of it, does it.

Since Callboard brings a plugin, pytest would write those of its 330 modules anew in each process.
"""

import sys

from _pytest.assertion.rewrite import AssertionRewritingHook

for finder in sys.meta_path:
    if isinstance(finder, AssertionRewritingHook):
        finder._must_rewrite.discard("callboard")
