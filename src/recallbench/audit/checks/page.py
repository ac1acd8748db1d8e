"""The page of a result against the one that follows from the folder's other files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from html.parser import HTMLParser
from itertools import zip_longest

from recallbench.reports.page import STYLES
from recallbench.reports.result_page import SCRIPTS

_POLICY = "Content-Security-Policy"
_TAGS = frozenset(
    {"html", "head", "meta", "title", "style", "script", "body", "main", "nav", "section", "div", "span", "svg"}
    | {"h1", "h2", "h3", "p", "br", "strong", "em", "b", "code", "ul", "ol", "li", "details", "summary", "figure"}
    | {"figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td", "form", "label", "select", "option"}
    | {"input", "output"}
)
_DRAWN = frozenset(
    {"svg", "g", "path", "line", "polyline", "polygon", "rect", "circle", "text", "tspan", "title", "desc"}
)
_LOADING = frozenset({"href", "src", "srcset", "style", "action", "formaction", "background", "data", "xlink:href"})

Compare = Callable[[Sequence[str], Sequence[str]], Iterator[str]]


def differing_lines(stated: str, derived: str, excerpts: Callable[[str, str], str]) -> Iterator[str]:
    """Yield the first line in which a page of this release differs."""
    for number, (line, expected) in enumerate(
        zip_longest(stated.split("\n"), derived.split("\n"), fillvalue=""), start=1
    ):
        if line != expected:
            yield f"line {number}: {excerpts(line, expected)}"
            return  # a missing or added line shifts all that follow


def differing_words(stated: str, derived: str, differing_figures: Compare) -> Iterator[str]:
    """Yield where the page of another release has other figures, or markup that no page has; words may differ.

    A drawing is held by its words alone.
    """
    page, expected = _PageText(stated), _PageText(derived)
    if sha256(page.style.encode()).hexdigest() not in STYLES:
        yield "a style that no release wrote"
    if page.script and sha256(page.script.encode()).hexdigest() not in SCRIPTS:
        yield "a script that no release wrote"
    if page.strange:
        yield f"markup that no page has: {', '.join(sorted(page.strange)[:3])}"
    if "default-src 'none'" not in page.policy:
        yield "no policy against requests"
    yield from differing_figures(page.lines, expected.lines)


class _PageText(HTMLParser):
    """The words of a page in lines, its headings as Markdown has them, and what else may speak in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines = [""]
        self.style = self.script = self.policy = ""
        self.strange: set[str] = set()
        """Tags and attributes that could load, link, hide or show something else."""
        self._inside = ""
        self._drawn = 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        self._drawn += tag == "svg"
        if tag not in (_DRAWN if self._drawn else _TAGS):
            self.strange.add(f"<{tag}>")
        self.strange |= {f"{tag} {name}" for name, _ in attrs if name.startswith("on") or name in _LOADING}
        given = dict(attrs)
        # The filter alone waits for its script.
        if "hidden" in given and given.get("id") != "filter":
            self.strange.add(f"{tag} hidden")
        if given.get("http-equiv", _POLICY) != _POLICY:
            self.strange.add(f"{tag} http-equiv {given['http-equiv']}")
        elif "http-equiv" in given:
            self.policy = given.get("content") or ""
        self.lines.append("## " if tag == "h2" else "")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""
        self._drawn -= tag == "svg"
        if tag not in ("b", "em", "strong"):
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.style += data
        elif self._inside == "script":
            self.script += data
        else:
            self.lines[-1] += data.replace("\n", " ")

    def handle_comment(self, data: str) -> None:
        self.strange.add("a comment")
