"""Files that are written whole, wherever their names lead."""

from pathlib import Path

import pytest

from callboard.experiments.whole_files import whole_file


@pytest.mark.parametrize("there", [True, False])
def test_what_is_written_to_a_link_is_in_the_file_that_it_leads_to(
    tmp_path: Path, there: bool
) -> None:
    """The link became a file of its own, and the one it had led to stayed as it was."""
    link, real = tmp_path / "link.html", tmp_path / "real.html"
    link.symlink_to(real.name)
    if there:
        real.touch()
    with whole_file(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert sorted(tmp_path.iterdir()) == [link, real]


def test_a_file_may_have_the_longest_name_that_there_is(tmp_path: Path) -> None:
    """ "File name too long" was said of 245 characters, to which the name of the part added."""
    path = tmp_path / f"{'x' * 250}.html"
    with whole_file(path) as part:
        assert part.suffix == ".html"  # by which some writers choose the format
        part.write_text("new")
    assert path.read_text() == "new"
