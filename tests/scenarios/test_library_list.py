"""The list of the library, which is made without the engine, says what the scenarios say."""

from callboard.scenarios.library_list import (
    DEFAULT_SCENARIO,
    LIBRARY,
    LIBRARY_GROUPS,
    library_entries,
    scenario_description,
    tour_names,
)
from callboard.scenarios.scenario_file import load_scenario


def test_every_scenario_is_in_one_group() -> None:
    listed = [name for names in LIBRARY_GROUPS.values() for name in names]
    assert sorted(listed) == sorted(path.stem for path in LIBRARY.glob("*.toml"))


def test_an_entry_is_what_the_scenario_says() -> None:
    for entry in library_entries():
        scenario = load_scenario(LIBRARY / f"{entry.name}.toml")
        said = (scenario.name, scenario.story, scenario.policies, scenario.seed)
        assert (entry.name, entry.story, entry.policies, entry.seed) == said
        assert entry.has_tour is (entry.name in tour_names())
        assert "Look for" in entry.about, entry.name
        assert "callboard run" not in entry.about, entry.name


def test_what_is_to_begin_with_has_a_tour() -> None:
    """But for the scenario that is played where none is named."""
    assert set(LIBRARY_GROUPS["to begin with"]) - {DEFAULT_SCENARIO} <= set(tour_names())


def test_the_description_leaves_out_what_only_a_shell_needs() -> None:
    """And the colon that led to it; one that leads to the next paragraph stays."""
    text = "# One\n# line:\n#\n#   callboard run x\n#\n# Two:\n#\n# three.\n\nname = 'x'\n# four\n"
    assert scenario_description(text) == "One line.\n\nTwo:\n\nthree."
