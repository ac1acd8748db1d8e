"""Figures in a text: what is claimed of which measure, on which line, and which folder is named for it. Reads no file.

A text is cut into units (a paragraph, a list item, a row of a table). A figure belongs to the measure named before it
in its unit, or right behind it, and to the folder named in its unit or, where that names none, beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recallbench.citing.citation_units import Unit
from recallbench.citing.citation_units import units as cut
from recallbench.citing.citation_words import (
    BETWEEN,
    BOUND,
    HUNDREDS,
    Folder,
    Locate,
    Name,
    Token,
    folders_in,
    tokens_in,
)

Role = Literal["value", "chance", "ceiling", "bm25", "difference"]

REACH, REACH_BARE, REACH_DIRECT, REACH_BEHIND = 100, 25, 12, 4
"""How far a figure may stand from its measure: one with its depth, a bare word, a percentage without its sign, and a
measure behind the figure."""

_SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z\[*`(])")
_ROLES: tuple[tuple[Role, str], ...] = (
    ("chance", r"\b(?:chance|random)"),
    ("ceiling", r"\b(?:ceiling|oracle)"),
    ("bm25", r"\bbm25\b"),
)
_DIFFERENCE = re.compile(
    r"\b(?:by|difference(?: of)?|delta|gain(?:s|ed)?(?: of)?|drops?|dropped|rises?|rose|fell|up|down)\W*$",
    re.IGNORECASE,
)
_OTHER_BEFORE = re.compile(
    r"(?:(?<!-)[<>≤≥]|\bp\s*=|\bp \(holm\)\s*=?|\balpha\b|\bbands?\b[^.]{0,12}|\btolerance\b|\bthreshold\b)\W*$",
    re.IGNORECASE,
)
_MORE = re.compile(r"(?:>=?|≥|\bover|\babove|\bmore than|\bat least|\bexceed(?:s|ed|ing)?|\bbeyond)\s*$", re.IGNORECASE)
_LESS = re.compile(r"(?:<=?|≤|\bunder|\bbelow|\bless than|\bat most)\s*$", re.IGNORECASE)
_OTHER_BEHIND = re.compile(r"^\s*(?:s|ms|us|seconds?|minutes?|times|x|MB|GB|confidence|interval|CI)\b", re.IGNORECASE)
_IMPROVED = re.compile(r"\bimprov|\boutperform|\bbetter\b|\bbeats?\b", re.IGNORECASE)
_NOT_IMPROVED = re.compile(r"\b(?:no|not an?) (?:improvement|better)|\bnot improved?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure and all that is claimed of it."""

    line: int
    names: tuple[Name, ...]
    """Two where one is given in brackets behind the other; none where the text names no measure."""
    value: str
    role: Role
    folders: tuple[Folder, ...]
    """One, or for a difference the two; empty where none is in reach."""
    context: str
    """The unit it stands in, with what heads its table."""
    section: str
    """Everything under its heading."""
    group: str
    """Everything around it up to the next blank lines, and the paragraph before that."""
    interval: tuple[str, str] | None = None
    half: str = ""
    count: str = ""
    hashes: tuple[str, ...] = ()
    row: str = ""
    """What its row of a table is called."""
    bound: Literal["", ">", "<"] = ""
    """The text says `more than` or `less than` this."""
    improved: bool = False
    """The text around it calls it an improvement."""
    near: str = ""
    """What stands between the measure and the figure, or in the figure's row and above its column."""
    beside: tuple[Folder, ...] = ()
    """Every folder in reach, in order."""


def claims_improvement(text: str) -> bool:
    """Whether these words say that something became better."""
    return bool(_IMPROVED.search(_NOT_IMPROVED.sub("", text)))


def figures(text: str, locate: Locate) -> tuple[Figure, ...]:
    """Every figure of a Markdown or plain text, in order."""
    units = list(cut(text))
    found = [folders_in(unit.text, locate) for unit in units]
    groups: dict[int, list[str]] = {}
    sections: dict[int, list[str]] = {}
    for unit in units:
        groups.setdefault(unit.group, []).append(unit.text)
        sections.setdefault(unit.section, []).append(unit.text)
    made: list[Figure] = []
    for i, unit in enumerate(units):
        section, group = ("\n".join(lines) for lines in (sections[unit.section], groups[unit.group]))
        before = next((one for one in reversed(units[:i]) if one.group != unit.group), None)
        if before is not None and before.section == unit.section:
            group = "\n".join([*groups[before.group], group])
        if not re.search(r"\d", unit.text):
            continue
        near = _near(i, units, found)
        make = _row if unit.kind == "row" else _prose
        made += [replace(one, section=section, group=group) for one in make(unit, near, locate)]
    return tuple(made)


def _near(i: int, units: Sequence[Unit], found: Sequence[Sequence[Token]]) -> list[Folder]:
    """The folders in reach of a unit that names none: of its group; for a table, also right above or below it."""
    unit = units[i]

    def of(indices: Iterable[int]) -> list[Folder]:
        return _once(token.folder for j in indices for token in found[j] if token.folder)

    group = [j for j, other in enumerate(units) if other.group == unit.group]
    if unit.kind == "row":
        # A row that names no folder in a table whose rows do is a row of its own; but controls belong to the others.
        of_rows = of(j for j in group if units[j].kind == "row" and j != i)
        if of_rows:
            return of_rows if len(of_rows) == 1 and _control(unit.cells) else []
        if here := of(group):
            return here
        above = [j for j in range(group[0]) if units[j].section == unit.section]
        below = [j for j in range(group[-1] + 1, len(units)) if units[j].section == unit.section]
        near = [j for j in above if units[j].group == units[above[-1]].group] if above else []
        return of(near) or (of(j for j in below if units[j].group == units[below[0]].group) if below else [])
    here = of(sorted(group, key=lambda j: (abs(j - i), j > i)))
    return here or of(j for j in range(i) if units[j].section == unit.section and units[j].kind == "heading")


def _control(cells: Sequence[str]) -> bool:
    label = next((cell for cell in cells if cell), "")
    return bool(re.fullmatch(r"\W*(?:chance|random(?: order)?|ceiling|oracle|bm25 control)\W*", label, re.IGNORECASE))


def _once(folders: Iterable[Folder]) -> list[Folder]:
    return list({one.found if one.found is not None else one.text: one for one in folders}.values())


def _prose(unit: Unit, near: Sequence[Folder], locate: Locate) -> list[Figure]:
    tokens = tokens_in(unit.text, locate)
    own = [one for one in tokens if one.folder]
    made: list[tuple[Figure, Token]] = []
    for i, token in enumerate(tokens):
        if token.what not in ("value", "signed", "whole"):
            continue
        if token.what == "whole" and not _alone(unit.text, tokens, i):
            continue
        names = _names(unit.text, tokens, i, made) or _above(unit, tokens, i, locate)
        if HUNDREDS.fullmatch(token.text[0]) and not _directly(unit.text, tokens, i):
            continue
        bound = _bounds(unit.text, tokens, i)
        role = "value" if bound and names else _role(unit.text, token)
        if role is None or (not names and (not own or len(re.sub(r"\D", "", token.text[0])) < 3)):
            continue  # without a measure, and without a folder that would make it one of a result's figures
        line = unit.line + unit.text.count("\n", 0, token.start)
        figure = Figure(line, names, token.text[0].strip(), role, (), unit.text, "", "")
        around = unit.text[max(0, token.start - REACH) : token.end + REACH_BARE]
        beside = tuple(_once(one.folder for one in own if one.folder) or near)
        spoken = max((one.end for one in tokens[:i] if one.name), default=0)
        figure = replace(figure, bound=bound if role == "value" else "", near=unit.text[spoken : token.start])
        made.append((replace(figure, improved=bool(names) and claims_improvement(around), beside=beside), token))
    return list(_attached(unit.text, made, tokens, near))


def _alone(text: str, tokens: Sequence[Token], i: int) -> bool:
    """Whether a whole number, a fraction or a power of ten is said of the measure before it, and of nothing else."""
    before = next((one for one in reversed(tokens[:i]) if one.name), None)
    if before is None or not re.match(r"\s*(?:$|[(\[,;.|)\]])", text[tokens[i].end :]):
        return False
    return bool(re.fullmatch(r"\W{0,3}(?:(?:is|was|of|at|now|reaches)\s+)*", text[before.end : tokens[i].start]))


def _above(unit: Unit, tokens: Sequence[Token], i: int, locate: Locate) -> tuple[Name, ...]:
    """Of a list item that names no measure: the one that the item above it ends with."""
    if not unit.above or any(one.name for one in tokens) or tokens[i].start > REACH_BARE:
        return ()
    found = [one for one in tokens_in(unit.above, locate) if one.name or one.what == "value"]
    return (found[-1].name,) if found and found[-1].name else ()


def _names(text: str, tokens: Sequence[Token], i: int, made: Sequence[tuple[Figure, Token]]) -> tuple[Name, ...]:
    token = tokens[i]
    if (listed := _listed(text, tokens, i)) is not None:
        return (listed,)
    before = [one for one in tokens[:i] if one.name]
    behind = next((one for one in tokens[i + 1 :] if one.name), None)
    follows = behind is not None and _glue(text[token.end : behind.start])
    if before:
        last = before[-1]
        gap = text[last.end : token.start]
        bare = "@" not in last.text[0] and " at " not in last.text[0].lower() and last.text[0].lower() != "mrr"
        taken = any(one.start > last.end for _, one in made)
        reaches = not _SENTENCE.search(gap) and len(gap) <= (REACH_BARE if bare else REACH) * (3 if taken else 1)
        chained = re.search(r"(?:->|→|\bto\b|\bvs\.?|\bagainst\b)\s*$", gap)
        if reaches and (chained or not (follows and taken)):
            aliases = [last]
            if len(before) > 1 and re.fullmatch(r"\s*[(=:,]?\s*", text[before[-2].end : last.start]):
                aliases.insert(0, before[-2])
            return tuple(one.name for one in aliases if one.name)
    return (behind.name,) if follows and behind and behind.name else ()


def _listed(text: str, tokens: Sequence[Token], i: int) -> Name | None:
    """Of `recall@10 and MRR are 0.97 and 0.81` the measure that has the figure's place; None of anything else."""
    between = r"\s*(?:,|/|&|and|, and)\s*"
    start = stop = i
    while start > 0 and _joins(text, tokens[start - 1], tokens[start], "value", between):
        start -= 1
    while stop + 1 < len(tokens) and _joins(text, tokens[stop], tokens[stop + 1], "value", between):
        stop += 1
    last = start - 1
    first = last
    while first > 0 and _joins(text, tokens[first - 1], tokens[first], "measure", between):
        first -= 1
    if first < 0 or stop == start or last - first != stop - start or tokens[last].what != "measure":
        return None
    return tokens[first + i - start].name


def _joins(text: str, one: Token, other: Token, what: str, between: str) -> bool:
    return one.what == other.what == what and bool(re.fullmatch(between, text[one.end : other.start]))


def _directly(text: str, tokens: Sequence[Token], i: int) -> bool:
    return i > 0 and tokens[i - 1].name is not None and len(text[tokens[i - 1].end : tokens[i].start]) <= REACH_DIRECT


def _bounds(text: str, tokens: Sequence[Token], i: int) -> Literal["", ">", "<"]:
    """Whether the text gives a bound: `recall@10 > 0.8`; a p-value below something is none of a measure."""
    before = text[max(0, tokens[i].start - REACH_BARE) : tokens[i].start]
    if re.search(r"\bp(?: \(holm\))?\s*[<>≤≥=]+\s*$|->\s*$", before, re.IGNORECASE):
        return ""
    return ">" if _MORE.search(before) else "<" if _LESS.search(before) else ""


def _glue(gap: str) -> bool:
    return len(gap) <= REACH_BEHIND or bool(re.fullmatch(r"\s*(?:of|for|in|as)?\s*(?:the\s+)?", gap))


def _role(text: str, token: Token) -> Role | None:
    """What the figure is of; None where it is nothing that a result states."""
    before, behind = text[max(0, token.start - 30) : token.start], text[token.end : token.end + 20]
    if _OTHER_BEFORE.search(before) or _OTHER_BEHIND.match(behind):
        return None
    percent = re.search(r"%|percent", token.text[0])
    if percent and re.match(r"\s+of\b", behind) and not re.search(r"@\s?\d+\W{0,4}(?:is |was |of |at )?$", before):
        return None
    if token.what == "signed" or _DIFFERENCE.search(before):
        return "difference"
    clause = re.split(r"[;\n]|[.!?]\s", text[: token.start])[-1]
    for role, words in _ROLES:
        near = rf"{words}\w*(?: level| control)?\W{{0,4}}(?:is |of |at |reaches )?$"
        if re.search(near, before, re.IGNORECASE) or re.match(rf"\W*{words}\s*:", clause, re.IGNORECASE):
            return role
    return "value"


def _attached(
    text: str, made: Sequence[tuple[Figure, Token]], tokens: Sequence[Token], near: Sequence[Folder]
) -> Iterator[Figure]:
    """Each figure with the interval, count, hashes and folders that belong to it."""
    own = [one for one in tokens if one.folder]
    plain = [token for figure, token in made if figure.role == "value"]
    counts = [one for one in tokens if one.what == "count"]
    for place, (figure, token) in enumerate(made):
        following = made[place + 1][1].start if place + 1 < len(made) else len(text)
        inside = [one for one in tokens if token.end <= one.start < following]
        interval = next((one for one in inside if one.what == "interval"), None)
        half = next((one for one in inside if one.what == "half"), None)
        count = next((one for one in inside if one.what == "count"), None) or next(
            (one for one in counts if one.start > token.start), counts[-1] if counts else None
        )
        yield replace(
            figure,
            interval=(interval.text[0], interval.text[1]) if interval else None,
            half=half.text[0] if half else "",
            count=count.text[0] if count else "",
            hashes=tuple(one.text[0] for one in tokens if one.what == "hash"),
            folders=_bound(figure, token, plain, own, near),
        )


def _bound(
    figure: Figure, token: Token, plain: Sequence[Token], own: Sequence[Token], near: Sequence[Folder]
) -> tuple[Folder, ...]:
    named = [one.folder for one in own if one.folder]
    if figure.role == "difference":
        return tuple((_once(named) or list(near))[:2])
    if not named:
        return tuple(near[:1])
    if len(_once(named)) == 1:
        return (named[0],)
    if token in plain and len(plain) == len(named):
        return (named[plain.index(token)],)
    behind = next((one.folder for one in own if one.start > token.end and one.folder), None)
    return (behind or named[-1],)


def _row(unit: Unit, near: Sequence[Folder], locate: Locate) -> list[Figure]:
    """The figures of a table's row: a column or the row itself names the measure."""
    cells = [tokens_in(cell, locate) for cell in unit.cells]
    heads = [tokens_in(cell, locate) for cell in unit.header]
    own = _once(one.folder for cell in cells for one in cell if one.folder)
    label = next((cell for cell in unit.cells if cell), "")
    hashes = tuple(one.text[0] for cell in cells for one in cell if one.what == "hash")
    of_row = tuple(one.name for cell in cells for one in cell if one.name and not any(t.what == "value" for t in cell))
    count = next((cell for cell, head in zip(unit.cells, unit.header, strict=False) if head.strip().lower() == "n"), "")
    made: list[Figure] = []
    for j, cell in enumerate(unit.cells):
        head = unit.header[j] if j < len(unit.header) else ""
        named = tuple(one.name for one in heads[j] if one.name) if j < len(heads) else ()
        numbers = [
            one
            for one in cells[j]
            if one.what in ("value", "signed") or (one.what == "whole" and named and one.text[0] == cell)
        ]
        bounds = re.fullmatch(rf"\s*[\[(]?({BOUND}){BETWEEN}({BOUND})[\])]?\s*", cell)
        if re.search(r"interval|\bci", head, re.IGNORECASE) or (bounds and made and not named):
            if made and bounds:
                made[-1] = replace(made[-1], interval=(bounds[1], bounds[2]))
            continue
        role = None if re.search(r"\bbands?\b", unit.header[0]) else _column(head, label)
        names = named or tuple(one.name for one in cells[j] if one.name) or of_row
        if role is None or not numbers or not names:
            continue
        there = [one.folder for one in heads[j] if one.folder] if j < len(heads) else []
        choice = own or there or _side(head, near)
        inner = next((one for one in cells[j] if one.what == "interval"), None)
        half = next((one for one in cells[j] if one.what == "half"), None)
        for number in numbers:
            made.append(
                Figure(
                    unit.line,
                    names,
                    number.text[0].strip(),
                    "difference" if number.what == "signed" else role,
                    tuple((own or near)[:2] if role == "difference" else choice[:1]),
                    f"{' | '.join(unit.header)}\n{unit.text}",
                    "",
                    "",
                    interval=(inner.text[0], inner.text[1]) if inner else None,
                    half=half.text[0] if half else "",
                    count=count,
                    hashes=hashes,
                    row=label,
                    near=f"{' '.join(text for text in unit.cells if text != cell)} {head}",
                )
            )
    return made


def _column(head: str, label: str) -> Role | None:
    said = head.strip().lower()
    if re.search(r"difference|delta|^Δ$|\bdiff\b", said) or said == "δ":
        return "difference"
    if re.search(r"^p\b|^p \(|design|saturat|band|detect|left out|range|\bsd\b|smallest|win/", said):
        return None
    for role, words in _ROLES:
        if re.search(words, said) or (role != "bm25" and re.search(words, label, re.IGNORECASE)):
            return role
    return "bm25" if re.search(r"\bbm25 control\b", label, re.IGNORECASE) else "value"


def _side(head: str, near: Sequence[Folder]) -> list[Folder]:
    """The folder of a column called `before` or `after`, where two are named above the table."""
    if len(near) > 1:
        if re.search(r"\b(?:before|previous|old)\b", head, re.IGNORECASE):
            return list(near[:1])
        if re.search(r"\b(?:after|new|now)\b", head, re.IGNORECASE):
            return list(near[1:2])
    return list(near)
