"""A document as one HTML page that needs nothing outside of itself (Jinja2, the extra
`experiments`).
"""

import re
from pathlib import Path
from typing import Any

from callboard.experiments.pages.report.document import Document
from callboard.experiments.pages.report.inline_svg import DARK_COLOURS
from callboard.experiments.whole_files import whole_file
from callboard.journal.tell.time_format import with_unbroken_units
from callboard.scheduler.text.missing_extra import imported_extra
from callboard.scheduler.text.quantities import printable

_HERE = Path(__file__).parent
_BREAKS = re.compile(r"""(?<=[\w)\]}"'][+(,])(?=[A-Za-z_\["'{])""")
"""The places of a policy's spelling at which a line may end: `fair+|delay(|node=5,|rack=5)`."""

_NO_JINJA = "reports need Jinja2, which is not installed: pip install 'callboard[experiments]'"

_TWO_UNITS = re.compile(r"\d (?:d|h|min) \d")


def check_jinja() -> None:
    """MissingExtraError if no page can be made here."""
    imported_extra("jinja2", _NO_JINJA)


def write_page(document: Document, path: Path) -> None:
    """Write the page, whole or not at all.  OSError as files do; MissingExtraError."""
    page = render_page(document)
    with whole_file(path) as part:
        part.write_text(page, encoding="utf-8")


def render_page(document: Document) -> str:
    """The page; equal documents give equal pages.  MissingExtraError without Jinja2."""
    jinja = imported_extra("jinja2", _NO_JINJA)
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        finalize=_inert_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _breakable_policy
    template = environment.get_template("page.html.jinja")
    dark = {colour.removeprefix("#"): shade for colour, shade in DARK_COLOURS.items()}
    page: str = template.render(document=document, dark=dark)
    return page


def _inert_text(value: object) -> object:
    """What is put into the page, without what a reader's browser or editor would act upon; markup
    that is ours, a figure's, has nothing of that.
    """
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return _with_unbroken_durations("\n".join(map(printable, value.split("\n"))))


def _breakable_policy(text: str) -> Any:
    """The text, whose policies may be broken where their parts and parameters begin, and still are
    copied as they are spelled.
    """
    from markupsafe import Markup

    return Markup("<wbr>").join(_BREAKS.split(str(_inert_text(text))))


def _with_unbroken_durations(text: str) -> str:
    """A length of two units, as `21 min 49 s`, breaks between them alone; `195 ± 19 s` may break
    anywhere, since a phone has no room for it otherwise.
    """
    return with_unbroken_units(text) if _TWO_UNITS.search(text) else text
