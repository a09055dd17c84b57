"""Writing a scenario as TOML for people: what differs from the defaults, and remarks."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from callboard.scenarios.scenario_file import Scenario
from callboard.scheduler.text.toml_text import toml_key, toml_value, without_defaults


def to_toml(scenario: Scenario, remarks: Iterable[str] = ()) -> str:
    """The scenario as the text of a file that begins with the remarks, a line of comment each."""
    comment = [f"# {line}".rstrip() for remark in remarks for line in remark.split("\n")]
    data = without_defaults(scenario)
    return "\n".join([*comment, *([""] if comment else []), *_table_lines(data, ())]) + "\n"


def _table_lines(data: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table: its plain fields, then the tables in it, then the lists of tables."""
    plain = {name: each for name, each in data.items() if not _is_table(each)}
    tables = {name: each for name, each in data.items() if isinstance(each, dict)}
    rows = {name: each for name, each in data.items() if _is_list_of_tables(each)}
    for name, each in plain.items():
        yield f"{toml_key(name)} = {toml_value(each)}"
    for name, each in tables.items():
        where = (*path, name)
        if not each or not all(_is_table(inner) for inner in each.values()):
            yield from ("", f"[{_dotted_key(where)}]")
        yield from _table_lines(each, where)
    for name, each in rows.items():
        where = (*path, name)
        for row in each:
            yield from ("", f"[[{_dotted_key(where)}]]")
            yield from (f"{toml_key(field)} = {toml_value(value)}" for field, value in row.items())


def _is_table(value: object) -> bool:
    return isinstance(value, dict) or _is_list_of_tables(value)


def _is_list_of_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _dotted_key(path: tuple[str, ...]) -> str:
    return ".".join(map(toml_key, path))
