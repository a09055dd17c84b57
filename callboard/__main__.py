"""`python -m callboard`."""

import sys

from callboard.cli import main

sys.exit(main())
