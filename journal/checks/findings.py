"""What checking comes to: how often a rule was checked, or a violation of it."""

import msgspec

from callboard.actors.vocabulary import events as ev


class Violation(Exception):
    """A run broke a rule.  `state` is what the rule looked at, a line each; `sentences` are the
    last events, the one at which it showed among them.
    """

    def __init__(
        self, rule: str, says: str, event: ev.Event | None, explanation: str, *about: object
    ) -> None:
        super().__init__(explanation)
        self.rule = rule
        self.says = says
        self.event = event
        self.explanation = explanation
        self.state = tuple(str(each) for each in about)
        self.sentences: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.rule} is broken: {self.says}", f"  {self.explanation}"]
        lines += [f"  {line}" for line in self.state]
        if self.sentences:
            lines += ["The last events, the one at which it showed last:"]
            lines += [f"  {line}" for line in self.sentences]
        return "\n".join(lines)


class RuleReport(msgspec.Struct, frozen=True):
    """How often a rule was checked in a run; if it never was, why."""

    rule: str
    says: str
    times: int
    idle: str = ""
