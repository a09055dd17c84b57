"""Which of several runs the twin has played, and why it has not played the others, in lines."""

from collections.abc import Iterable, Iterator

from callboard.experiments.run.run_result import TWIN, RunResult


def engine_lines(results: Iterable[RunResult]) -> Iterator[str]:
    """A line for the twin's policies, and one for each that it could not play; none where the
    actors played without having been asked in its place.
    """
    by_twin: dict[str, None] = {}
    refused: dict[tuple[str, str], None] = {}
    for each in results:
        if each.engine == TWIN:
            by_twin[each.summary.policy] = None
        elif each.why_actors:
            refused[each.summary.policy, each.why_actors] = None
    if by_twin:
        yield f"played by the twin: {', '.join(by_twin)}"
    yield from (f"played by the actors: {policy} (the twin: {why})" for policy, why in refused)
