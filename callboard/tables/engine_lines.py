"""Which of several runs the twin has played, and why it has not played the others, in lines."""

from collections.abc import Iterable, Iterator

from callboard.experiments.run.run_result import TWIN, RunResult


def engine_lines(results: Iterable[RunResult]) -> Iterator[str]:
    """A line for the twin's policies, and one for those that it could not play for one reason; none
    where the actors played without having been asked in its place.
    """
    by_twin: dict[str, None] = {}
    by_actors: dict[str, dict[str, None]] = {}
    for each in results:
        if each.engine == TWIN:
            by_twin[each.summary.policy] = None
        elif each.why_actors:
            by_actors.setdefault(each.why_actors, {})[each.summary.policy] = None
    if by_twin:
        yield f"played by the twin: {', '.join(by_twin)}"
    for why, policies in by_actors.items():
        yield f"played by the actors: {', '.join(policies)} (the twin: {why})"
