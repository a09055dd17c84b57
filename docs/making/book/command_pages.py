"""The reference of the commands: a page of the book, and a page for `man`."""

from collections.abc import Iterator

from callboard.actors.version import __version__
from docs.making.book.command_facts import CommandFacts, OptionFacts, all_commands
from docs.making.book.markdown import NOTE, page

INTRO = """\
`callboard help COMMAND` prints what stands here of one command. Options may be shortened as long
as they stay unambiguous. `man callboard` is the same page, where Callboard was installed by `pip`
or `pipx`.

| exit status | meaning |
|---|---|
| 0 | it is done |
| 1 | a run failed or got stuck; for `diff`, the journals differ; for `check`, a guarantee failed |
| 2 | bad input: the message says what is wrong, where, and what to do |
| 130 | after Ctrl-C |"""


def commands_page() -> str:
    """`docs/reference/commands.md`."""
    return page("Commands", INTRO, *(_section(each) for each in all_commands()))


def _section(command: CommandFacts) -> str:
    blocks = [f"## `callboard {command.name}`", f"{command.about}", *_after(command.after)]
    for title, options in command.groups:
        blocks += [f"**{title}**", "\n".join(map(_item, options))]
    return "\n\n".join(block for block in blocks if block)


def _after(text: str) -> list[str]:
    return [f"```text\n{text.strip()}\n```"] if text.strip() else []


def _item(option: OptionFacts) -> str:
    return f"- `{option.spelling}`: {option.meaning}".removesuffix(": ")


def man_page() -> str:
    """`docs/callboard.1`, in the language of man pages."""
    return "\n".join(_man_lines()) + "\n"


def _man_lines() -> Iterator[str]:
    yield f'.\\" {NOTE}'
    yield f'.TH CALLBOARD 1 "" "Callboard {__version__}" "Callboard"'
    yield from (".SH NAME", "callboard \\- simulate a shared MapReduce cluster and its schedulers")
    yield from (".SH SYNOPSIS", ".B callboard", "[\\-\\-version] [\\-\\-help]", ".br")
    yield from (".B callboard", "COMMAND [OPTION ...]", ".SH DESCRIPTION")
    yield _roff("Without a command, in a terminal: choose a scenario and watch it.")
    yield ".SH COMMANDS"
    for command in all_commands():
        yield from _man_section(command)
    yield ".SH EXIT STATUS"
    yield from _tagged("0", "It is done.")
    yield from _tagged("1", "A run failed or got stuck; diff: they differ; check: one failed.")
    yield from _tagged("2", "Bad input.")
    yield from _tagged("130", "After Ctrl-C.")


def _man_section(command: CommandFacts) -> Iterator[str]:
    yield f".SS callboard {command.name}"
    yield _roff(command.about)
    for title, options in command.groups:
        yield from (".P", f".I {_roff(title)}")
        for option in options:
            yield from _tagged(option.spelling, option.meaning)
    if command.after.strip():
        yield from (".P", ".nf", *map(_roff, command.after.strip().splitlines()), ".fi")


def _tagged(term: str, text: str) -> Iterator[str]:
    yield from (".TP", f".B {_roff(term)}", _roff(text))


def _roff(text: str) -> str:
    """Text as roff takes it: no line begins a request, no hyphen is a dash."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
