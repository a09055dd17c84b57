"""What policies are called in sentences, tables and legends."""

import pytest

from callboard.experiments.pages.charts.cell_table import policy_labels

MONITOR = "monitor=true,natural_termination=1.0"


@pytest.mark.parametrize(
    ("policies", "labels"),
    [
        ((f"yarn({MONITOR})", "fair"), ["yarn(…)", "fair"]),
        ((f"yarn({MONITOR})", "yarn"), [f"yarn({MONITOR})", "yarn"]),
        ((f"yarn(am_percent=50,{MONITOR})", "yarn(am_percent=50)"), [f"yarn({MONITOR},…)", None]),
        (
            ('yarn(queues={a={x=1,y=2},b={z=3}},am="a,b")', 'yarn(queues={a={x=1,y=2}},am="a,b")'),
            ["yarn(queues={a={x=1,y=2},b={z=3}},…)", "yarn(queues={a={x=1,y=2}},…)"],
        ),
        ((f"a({MONITOR})+delay(node=5)", f"a({MONITOR})+delay(node=7)"), ["a(…)+delay(node=5)"]),
    ],
)
def test_of_one_head_a_label_says_what_sets_it_apart(
    policies: tuple[str, ...], labels: list[str | None]
) -> None:
    """Of `4% less than under yarn(…)` nobody knew which was meant."""
    for policy, found, label in zip(policies, policy_labels(policies), labels, strict=False):
        assert found == (label or policy)
