"""A self-contained page, in light and dark colours."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from recallbench.escaping.web import address, html

COLOURS = """:root { color-scheme: light dark; --ink: #1d1d1f; --ground: #ffffff; --rule: #c8c8cc;
  --line: #0b57a4; --second: #9a4a00; --third: #00684a; --band: #b9d6f2 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8ea; --ground: #17181a; --rule: #46474b;
    --line: #7db8f5; --second: #f0a868; --third: #6fd0a8; --band: #27486b }
}
svg text { fill: var(--ink) }
"""
"""The colours of pages and of plots."""
STYLE = f"""
{COLOURS}body {{ background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 64rem; overflow-wrap: break-word; padding: 1rem }}
a {{ color: var(--line) }}
figure {{ margin: 1rem 0; overflow-x: auto }}
svg {{ height: auto; max-width: 100% }}
.wide {{ overflow-x: auto }}
table {{ border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; margin: 1rem 0 }}
caption {{ font-weight: 600; padding: .3rem 0; text-align: left }}
form {{ display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0 }}
form[hidden] {{ display: none }}
select, input {{ background: var(--ground); border: 1px solid var(--rule); color: var(--ink); font: inherit;
  padding: .2rem .4rem }}
th, td {{ border-bottom: 1px solid var(--rule); padding: .3rem .6rem; text-align: left; vertical-align: top }}
th, td:not(:last-child) {{ white-space: nowrap }}
td:last-child {{ min-width: 10rem }}
#failures th, #failures td {{ white-space: normal }}
#failures tbody th {{ font-weight: normal; min-width: 8rem }}
#failures td:nth-child(n+4) {{ min-width: 10rem }}
"""

STYLES = frozenset(
    {
        "1d27e7cd29d5f9115120c9a0ba6b3de840c83e9437266236665cf469a0554930",
        "912346187798982cd3a9c9f519c96c9d76469327a42c9207fc4c3b6afb4f17b0",  # with the flow of a pipeline
    }
)
"""The sha256 of each style that a release wrote: an audit knows them in the pages of results."""


MAIN = "<main>"


@dataclass(frozen=True, slots=True)
class Page:
    """A title, which is text, and a body, which is markup already."""

    title: str
    body: Sequence[str]
    script: str = ""
    """Its program, the only one that the page's policy lets run."""
    style: str = ""
    """What it needs beside the style of every page."""

    def html(self) -> str:
        """Return the whole file; its policy forbids fetching anything."""
        name = html(self.title)
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        if self.script:
            policy += f"; script-src 'sha256-{b64encode(sha256(self.script.encode()).digest()).decode()}'"
        lines = [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{name}</title>",
            f"<style>{STYLE}{self.style}</style>",
            "</head>",
            "<body>",
            MAIN,
            f"<h1>{name}</h1>",
            *self.body,
            "</main>",
            *([f"<script>{self.script}</script>"] if self.script else []),
            "</body>",
            "</html>",
        ]
        return "\n".join(lines) + "\n"


def with_way_back(page: str, target: str, text: str) -> str:
    """Return a whole page that has a link to the page above it at its head."""
    return page.replace(f"\n{MAIN}\n", f'\n{MAIN}\n<nav><a href="{address(target)}">{html(text)}</a></nav>\n', 1)


def listing(lines: Iterable[str]) -> list[str]:
    """Return a list of texts as markup."""
    return ["<ul>", *(f"<li>{html(line)}</li>" for line in lines), "</ul>"]


def captioned(picture: str, caption: str) -> list[str]:
    """Return a picture, which is markup, with a text below it."""
    return ["<figure>", picture, f"<figcaption>{html(caption)}</figcaption>", "</figure>"]
