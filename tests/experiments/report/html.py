"""A page as a reader of it sees it."""

import re
from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "hr", "img", "input", "base", "wbr"}


class ReadPage(HTMLParser):
    """The tags with their attributes, the text of each, and every reference in attributes or style.

    A tag that is closed out of turn, or never, is an AssertionError.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self.references: list[str] = []
        self._open: list[str] = []
        self._may_break = False
        self.feed(html)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.append((tag, found))
        self._refer(tag, found)
        self._may_break = tag == "wbr"
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.append((tag, found))
        self._refer(tag, found)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self._open:
            texts = self.texts.setdefault(self._open[-1], [])
            before = texts.pop() if self._may_break and texts else ""
            texts.append(before + data)  # as it is read, wherever a line may end
        self._may_break = False
        if self._open and self._open[-1] == "style":
            self._refer_in_style(data)

    def _refer(self, tag: str, found: dict[str, str]) -> None:
        names = ("src", "href", "xlink:href", "srcset", "data", "action", "poster", "background")
        self.references += [found[name] for name in names if name in found]
        self._refer_in_style(" ".join(found.values()))
        assert tag not in ("script", "iframe", "object", "embed", "base", "form"), tag

    def _refer_in_style(self, text: str) -> None:
        self.references += re.findall(r"url\(\s*['\"]?([^'\")]*)", text)
        self.references += re.findall(r"@import\s+['\"]?([^'\";]*)", text)

    @property
    def outside(self) -> list[str]:
        """The references that need anything but this page."""
        inside = ("#", "data:")
        return [each for each in self.references if not each.startswith(inside)]

    def said(self, tag: str) -> list[str]:
        """What stands in elements of that tag."""
        return [" ".join(text.split()) for text in self.texts.get(tag, []) if text.strip()]
