"""`python -m callboard.ideal`: the command by itself."""

import sys
from argparse import ArgumentParser

from callboard.ideal.command import add_arguments, main

parser = ArgumentParser(prog="python -m callboard.ideal")
add_arguments(parser)
sys.exit(main(parser.parse_args()))
