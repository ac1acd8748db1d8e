"""`versions.html`: plot and tables in one file that needs nothing else, by day and by night."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from recallbench.escaping.web import address, html
from recallbench.reports.versions import PAIR_HEADER, Versions, bands, header, identity, pair_rows, reading, rows, title
from recallbench.reports.versions_plot import draw

STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1f; --ground: #ffffff; --line: #0b57a4; --band: #b9d6f2; --rule: #c8c8cc }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8ea; --ground: #17181a; --line: #7db8f5; --band: #27486b; --rule: #46474b }
}
body { background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 64rem; padding: 1rem }
a { color: var(--line) }
figure { margin: 1rem 0; overflow-x: auto }
svg { height: auto; max-width: 100% }
svg text { fill: var(--ink) }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0 }
caption { font-weight: 600; padding: .3rem 0; text-align: left }
th, td { border-bottom: 1px solid var(--rule); padding: .3rem .6rem; text-align: left; vertical-align: top }
th, td:not(:last-child) { white-space: nowrap }
"""


def render(versions: Versions, folders: Mapping[str, str]) -> str:
    """The whole page; `folders` has the result folder of each version that was measured."""
    linked = [
        [
            f'<a href="{address(folders[row[0]])}/report.md">{html(row[0])}</a>' if row[0] in folders else html(row[0]),
            *map(html, row[1:]),
        ]
        for row in rows(versions)
    ]
    pairs = [[html(cell) for cell in row] for row in pair_rows(versions)]
    body = [
        *listed(identity(versions)),
        "<figure>",
        draw(versions),
        f"<figcaption>{html(bands(versions))} The table below has the same figures.</figcaption>",
        "</figure>",
        *tabled("Versions", header(versions), linked),
        "<h2>Neighbours</h2>",
        *(tabled("Each version against the one before it", PAIR_HEADER, pairs) if pairs else ()),
        *listed(reading(versions)),
    ]
    return page(title(versions), body)


def page(title: str, body: Sequence[str]) -> str:
    """A whole page; the title is text, the body markup already."""
    name = html(title)
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        # Nothing is fetched, whatever a reader's software makes of the text.
        """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">""",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{name}</title>",
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        "<main>",
        f"<h1>{name}</h1>",
        *body,
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def listed(lines: Iterable[str]) -> list[str]:
    """A list of texts."""
    return ["<ul>", *(f"<li>{html(line)}</li>" for line in lines), "</ul>"]


def tabled(caption: str, head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """A table with the first cell of each row as its heading; cells are markup already."""
    made = [f'<div class="wide" role="region" aria-label="{html(caption)}" tabindex="0">', "<table>"]
    made.append(f"<caption>{html(caption)}</caption>")
    made.append("<thead><tr>" + "".join(f'<th scope="col">{html(cell)}</th>' for cell in head) + "</tr></thead>")
    made.append("<tbody>")
    for first, *rest in body:
        made.append(f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>")
    return [*made, "</tbody>", "</table>", "</div>"]
