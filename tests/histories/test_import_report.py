"""What is said of an import."""

import pytest

from callboard.histories.model.import_report import Remark


@pytest.mark.parametrize(
    ("what", "once"),
    [
        ("attempts that were killed", "attempt that was killed"),
        ("jobs out of order: sorted by their submission", "job out of order: sorted by its"),
        ("reduces of jobs in which no reduce tells", "reduce of jobs in which no reduce tells"),
        ("map slots a node: so many maps", "map slot a node: so many maps"),
        ("places that are not UTF-8: read", "place that is not UTF-8: read"),
        ("killed attempts beside another of their task", "killed attempt beside another of its"),
        ("lengths of jobs that do not tell theirs", "length of jobs that do not tell theirs"),
        ("jobs' fields that no simulation needs", "jobs' fields that no simulation needs"),
        ("the rest of a packed file", "the rest of a packed file"),
        ("amount of a node: {slots}", "amount of a node: {slots}"),
    ],
)
def test_a_thing_that_happened_once_is_told_in_the_singular(what: str, once: str) -> None:
    """`1 jobs out of order` stood there, and `1 attempts that were killed`."""
    assert Remark(what, 1).said.startswith(once)
    assert Remark(what, 2).said == what
