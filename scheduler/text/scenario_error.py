"""The one exception that bad input raises, written for the person who has to correct the input."""

from pathlib import Path

from callboard.scheduler.text.concise import concise


class ScenarioError(ValueError):
    """What is wrong with a scenario or a trace (`problem`, and what would be right), and where: the
    file or what stands for one, such as `--set`; the dotted key; the line from 1; each if known.
    """

    def __init__(
        self, problem: str, *, source: str | Path = "", key: str = "", line: int | None = None
    ) -> None:
        self.problem = problem
        self.source = str(source)
        self.key = key
        self.line = line
        super().__init__(problem)

    def in_file(self, source: str | Path) -> "ScenarioError":
        """The same with the file, if it names none."""
        source = self.source or source
        return ScenarioError(self.problem, source=source, key=self.key, line=self.line)

    def __str__(self) -> str:
        where = [self.source] if self.source else []
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.key:
            where.append(self.key)
        return concise(f"{', '.join(where)}: {self.problem}" if where else self.problem)
