"""Write a policy of your own to begin with: an order that runs as it is, and that `check` passes.
It is written into a new file; one that is there already is left alone.

examples:
  callboard new policy mine.py
  callboard run two-jobs --policy ./mine.py:Mine --policy fair
  callboard check ./mine.py:Mine
"""

import argparse
import re
import shlex
from keyword import iskeyword
from pathlib import Path
from string import Template

from callboard.experiments.journal_paths import file_path
from callboard.experiments.user_errors import InputError
from callboard.scheduler.registry.spelling import FILE_PART

TEMPLATE = Template('''\
"""An order of my own: the job with the fewest tasks left to launch goes first.

callboard run two-jobs --policy $ref --policy fair
callboard check $ref
"""

from callboard.scheduler.model import SlotKind
from callboard.scheduler.orders.keyed import KeyedOrder, SortKey
from callboard.scheduler.view import JobView


class $order(KeyedOrder):
    """Fewest tasks left to launch, then submit time."""

    name = "$name"
    summary = "the job with the fewest tasks left to launch is next"

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        """The smallest key is next; `job` is what the master knows of it."""
        return (job.pending(kind), job.submitted_ms)

    def score(self, key: SortKey) -> float:
        """What a launch's reason says, as in `callboard show JOURNAL`."""
        return float(key[0])
''')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("policy",), help="what to write")
    parser.add_argument("file", metavar="FILE.py", help="where to; it must not exist yet")


def new_command(options: argparse.Namespace) -> int:
    path = file_path("new policy", options.file)
    order = _class_name(path.stem)
    part = _policy_spelling(path, order)
    ref = shlex.quote(part)
    _write_new_file(path, TEMPLATE.substitute(order=order, name=_part_name(path.stem), ref=ref))
    print(f"{path} holds the order `{order}`; next:")
    print(f"  callboard run two-jobs --policy {ref} --policy fair")
    print(f"  callboard check {ref}")
    return 0


def _write_new_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path}: there is such a file, and it stays; name another") from None


def _policy_spelling(path: Path, order: str) -> str:
    """How `--policy` names the order.  InputError for a file that it could not name."""
    here = path.is_absolute() or len(path.parts) > 1
    part = f"{path if here else f'./{path}'}:{order}"
    if FILE_PART.fullmatch(part) is None:
        raise InputError(f"{path}: expected a name that ends in .py and has no bracket or colon")
    return part


def _words_of_stem(stem: str) -> list[str]:
    return re.findall(r"[A-Za-z0-9]+", stem)


def _class_name(stem: str) -> str:
    """`MyOrder` for `my_order`, and for what no class can be called after."""
    name = "".join(word[0].upper() + word[1:] for word in _words_of_stem(stem))
    return name if name.isidentifier() and not iskeyword(name) else "MyOrder"


def _part_name(stem: str) -> str:
    return "-".join(_words_of_stem(stem)).lower() or "my-order"
