"""The figures of a text: what is said of which measure, on which line, and which result folder is named for it.

A figure belongs to the measure before it in its sentence, or right behind it, and to the folder in its sentence or
passage, else to the one around it: in the list item above, the table's introduction or the heading. A figure that could
belong to several is not placed, and says why. No file is read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from recallbench.citing.figure_words import (
    CONTROL,
    OTHER_BEHIND,
    OTHER_COLUMN,
    PAIR,
    ROLE,
    SIDES,
    TOKEN,
    CitedMeasure,
    Role,
    measure_name,
)
from recallbench.citing.passages import Passage, read_passages

Locate = Callable[[str], Path | None]
"""Returns the result folder that a word of the text names, or None."""

_REACH, _REACH_BARE, _REACH_BEHIND = 100, 25, 4
"""How far a figure may stand behind its measure, behind a measure without its depth, and before its measure."""

_HASH = re.compile(r"(?<![0-9a-f/_-])(?=[0-9a-f]*\d)([0-9a-f]{12,64})(?![0-9a-z_-])")
_PATH = re.compile(r"[\w.+~:/%-]*[A-Za-z][\w.+~:/%-]*")
_CLAIMED_PATH = re.compile(r"(?:.*/)?results/[\w.+-]+.*|(?:[\w.+-]+/)*[\w.+-]+_\d{8}\w*")
_FROM = re.compile(r"\bfrom\s*$", re.IGNORECASE)
"""Before the first of two values: the figure of another result."""
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s+[A-Z\[*`(])|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A result folder as the text names it."""

    start: int
    text: str
    path: Path | None
    """None where there is no such folder."""


@dataclass(frozen=True, slots=True)
class CitedFigure:
    """One figure and all that the text says of it."""

    value: str
    role: Role
    start: int
    """Where it stands in its passage."""
    span: tuple[int, int]
    """Its sentence; of a table its cell."""
    sentence: str
    near: str
    """The words between the measure and the figure, or the rest of the table's row."""
    bound: str = ""
    """`more` or `less` where the text says that the measure is more or less than this."""
    names: tuple[CitedMeasure, ...] = ()
    """Two where the text gives a second one in brackets; none where it names no measure."""
    interval: tuple[str, str] | None = None
    half: str = ""
    count: str = ""
    unplaced: str = ""
    """Why the figure can't be checked; empty where it can."""
    column: str = ""
    row: str = ""
    line: int = 0
    folders: tuple[NamedFolder, ...] = ()
    """One, or for a difference the two; empty where none is named."""
    beside: tuple[NamedFolder, ...] = ()
    """Every folder that it could belong to."""
    surroundings: str = ""
    """The block it stands in, and the block above."""
    section: str = ""
    hashes: tuple[str, ...] = ()


def read_figures(text: str, locate: Locate) -> tuple[CitedFigure, ...]:
    """Return every figure of a Markdown or plain text, in order."""
    passages = read_passages(text)
    named = [_folders_in(passage.text, locate) for passage in passages]
    drafts = [
        list(_row_figures(passage, locate) if passage.kind == "row" else _prose_figures(passage, folders, passages))
        for passage, folders in zip(passages, named, strict=True)
    ]
    figures = []
    for i, passage in enumerate(passages):
        section = [other for other in passages if other.section == passage.section]
        around = "\n".join(other.text for other in section if 0 <= passage.block - other.block <= 1)
        near = [] if named[i] else _folders_around(i, passages, named, drafts)
        hashes = tuple(_HASH.findall(_without(passage.text, named[i])))
        for draft in drafts[i]:
            if draft.names or named[i]:
                figure = replace(
                    _with_folders(draft, named[i], near, drafts[i]),
                    line=passage.line + passage.text.count("\n", 0, draft.start),
                    surroundings=around,
                    section="\n".join(other.text for other in section),
                    hashes=hashes,
                )
                figures.append(figure)
    return tuple(figures)


def _folders_in(text: str, locate: Locate) -> list[NamedFolder]:
    """The result folders that a text names, also those that are not there."""
    folders = []
    for match in _PATH.finditer(text):
        word = match[0].rstrip(".,:%")
        path = locate(word)
        if path is not None or _CLAIMED_PATH.fullmatch(word):
            folders.append(NamedFolder(match.start(), word, path))
    return folders


def _without(text: str, folders: Iterable[NamedFolder]) -> str:
    for folder in folders:
        text = text[: folder.start] + " " * len(folder.text) + text[folder.start + len(folder.text) :]
    return text


def _folders_around(
    i: int, passages: Sequence[Passage], named: Sequence[list[NamedFolder]], drafts: Sequence[list[CitedFigure]]
) -> list[NamedFolder]:
    """The folders that a passage which names none belongs to."""
    passage = passages[i]
    above = passage.above
    while above is not None:
        if named[above]:
            return named[above]
        above = passages[above].above

    def of_block(block: int) -> list[NamedFolder]:
        beside = [j for j, other in enumerate(passages) if (other.block, other.section) == (block, passage.section)]
        return [folder for j in beside for folder in named[j]]

    if passage.kind in ("item", "row"):
        beside = [j for j, other in enumerate(passages) if other.block == passage.block and named[j]]
        labels = [folder for j in beside if not drafts[j] for folder in named[j]]
        owned = [folder for j in beside if drafts[j] for folder in named[j]]
        if labels or owned:
            # Beside rows with folders of their own a row without is another system; but a control belongs to them.
            control = passage.kind == "row" and CONTROL.fullmatch(passage.cells[0])
            return labels or (owned if control else [])
        if near := of_block(passage.block - 1):
            return near
    headings = [j for j, other in enumerate(passages) if other.kind == "heading" and other.section == passage.section]
    heading = [folder for j in headings for folder in named[j]]
    return heading or (of_block(passage.block + 1) if passage.kind in ("item", "row") else [])


def _with_folders(
    figure: CitedFigure, own: Sequence[NamedFolder], near: Sequence[NamedFolder], drafts: Sequence[CitedFigure]
) -> CitedFigure:
    """The figure with the folder that its sentence names, else its passage, else what stands around it."""
    start, end = figure.span
    inside = [folder for folder in own if start <= folder.start < end]
    if len(_distinct(inside)) < (2 if figure.role == "difference" else 1):
        start, end, inside = 0, 1 << 30, list(own)
    choices = _distinct(inside or figure.beside or near)
    values = [draft.start for draft in drafts if draft.role == "value" and start <= draft.start < end]
    figure = replace(figure, beside=choices)
    side = SIDES.search(figure.column)
    if figure.role == "difference" or len(choices) < 2:
        return replace(figure, folders=choices[:2])
    if figure.role == "value" and len(values) == len(inside):
        return replace(figure, folders=(inside[values.index(figure.start)],), unplaced="")
    if side and len(choices) == 2:
        return replace(figure, folders=choices[:1] if side[1] else choices[1:])
    return replace(figure, unplaced=figure.unplaced or "several folders are named for it")


def _distinct(folders: Iterable[NamedFolder]) -> tuple[NamedFolder, ...]:
    seen: dict[Path | str, NamedFolder] = {}
    for folder in folders:
        seen.setdefault(folder.path or folder.text, folder)
    return tuple(seen.values())


def _prose_figures(
    passage: Passage, folders: Sequence[NamedFolder], passages: Sequence[Passage]
) -> Iterator[CitedFigure]:
    text = _without(passage.text, folders)
    # `- recall@10` over `  - 0.97`: what stands in the item above goes on below it.
    above = "" if passage.above is None else passages[passage.above].text
    tokens = [token for token in TOKEN.finditer(above) if token["measure"] or token["value"]]
    names = [(measure_name(tokens[-1]),)] if tokens and tokens[-1]["measure"] else []
    for sentence in _SENTENCE.finditer(text):
        for figure in _figures_in(text, sentence.span(), names):
            yield replace(figure, unplaced="it stands in HTML") if passage.kind == "html" else figure


def _row_figures(passage: Passage, locate: Locate) -> list[CitedFigure]:
    """The figures of a table's row: each cell is read like a sentence that begins with its measure."""
    figures: list[CitedFigure] = []
    label = next((cell for cell in passage.cells if cell), "")
    control = label if CONTROL.fullmatch(label) else ""
    measures = [cell for cell in passage.cells if {match.lastgroup for match in TOKEN.finditer(cell)} == {"measure"}]
    columns = list(zip(passage.header, passage.cells, strict=True)) if passage.cells != passage.header else []
    count = next((cell for head, cell in columns if head.strip() == "n"), "")
    start = 0
    for head, cell in columns:
        folders = _folders_in(head, locate)
        heading = TOKEN.sub(lambda match: match[0] if match["measure"] else " ", _without(head, folders))
        if not any(match["measure"] for match in TOKEN.finditer(heading + cell)):
            heading = " = ".join([*measures, heading])
        pair = re.fullmatch(rf"\W*{PAIR}\W*", cell)
        if pair and figures:
            figures[-1] = replace(figures[-1], interval=(pair[1], pair[2]))
        elif not OTHER_COLUMN.search(head) and cell not in measures:
            text = f"{heading} {control}: {_without(cell, _folders_in(cell, locate))}"
            figures += [
                replace(
                    figure,
                    start=start,
                    span=(start, start + len(cell)),
                    sentence=f"{' | '.join(passage.header)}\n{passage.text}",
                    near=f"{passage.text[:start]} {passage.text[start + len(cell) :]} {head}",
                    count=figure.count or count,
                    beside=tuple(folders),
                    column=head,
                    row=label,
                )
                for figure in _figures_in(text, (0, len(text)))
                if figure.names
            ]
        start += len(cell) + len(" | ")
    return figures


def _figures_in(text: str, span: tuple[int, int], names: Sequence[tuple[CitedMeasure, ...]] = ()) -> list[CitedFigure]:
    """The figures of a sentence, each with its measure (`names` are those above it), interval and count."""
    names = list(names)
    tokens = list(TOKEN.finditer(text, *span))
    figures: list[CitedFigure] = []
    group: list[CitedFigure] = []
    last: re.Match[str] | None = None
    taken: re.Match[str] | None = None
    for token, behind in zip(tokens, [*tokens[1:], None], strict=False):
        kind = token.lastgroup
        gap = text[last.end() : token.start()] if last else ""
        if kind == "stop" or (kind == "measure" and group and token is not taken):
            figures += _with_names(group, names)
            names, group, last, gap = [], [], None, ""
        if kind == "measure" and token is not taken:
            if names and re.fullmatch(r"\s*[(=:]\s*", gap):
                names[-1] += (measure_name(token),)
            elif names and re.fullmatch(r"\)?\s*(?:,|/|&|,?\s*and)\s*", gap):
                names.append((measure_name(token),))
            else:
                names = [(measure_name(token),)]
            last = token
        elif kind in ("value", "bare_percent", "difference"):
            if last and not group and len(gap) > (_REACH_BARE if last["bare"] else _REACH):
                names, last = [], None
            said = ROLE.search(text, max(span[0], token.start() - 30), token.start())
            role = (said and said.lastgroup) or ("difference" if kind == "difference" else "value")
            direct = re.fullmatch(r"\W{0,9}(?:(?:is|was|of|at|now|reaches)\s+)*", gap) if last else None
            alone = re.match(r"\s*(?:$|[(\[,;.|)\]])", text[token.end() : span[1]])
            # `85% of the texts` counts something else, unless the measure stands right before it.
            share = token[0][-1] in "%t" and re.match(r"\s+of\b", text[token.end() :]) and not direct
            if role == "other" or share or OTHER_BEHIND.match(text, token.end()):
                continue
            if kind == "bare_percent" and not (direct and alone and not group):
                continue
            bound = role if role in ("more", "less") else ""
            role = "value" if bound else role
            figure = CitedFigure(
                token[0].strip(), cast(Role, role), token.start(), span, text[slice(*span)], gap, bound
            )
            if not names and behind and behind["measure"]:
                between = text[token.end() : behind.start()]
                if len(between) <= _REACH_BEHIND or re.fullmatch(r"\s*(?:of|for|in|as)?\s*(?:the\s+)?", between):
                    figure, taken = replace(figure, names=(measure_name(behind),)), behind
            group.append(figure)
        elif kind == "interval" and group and (pair := re.search(PAIR, token[0])):
            group[-1] = replace(group[-1], interval=group[-1].interval or (pair[1], pair[2]))
        elif kind == "half" and group:
            group[-1] = replace(group[-1], half=token["half"])
    figures += _with_names(group, names)
    counts = [(token.start(), token["count"]) for token in tokens if token["count"]]
    return [
        replace(figure, count=next((n for at, n in counts if at > figure.start), counts[-1][1] if counts else ""))
        for figure in figures
    ]


def _with_names(group: Sequence[CitedFigure], names: Sequence[tuple[CitedMeasure, ...]]) -> Iterator[CitedFigure]:
    """The figures behind some measures, each with its own: one for one, or with the only one."""
    values = [figure.start for figure in group if figure.role == "value" and not figure.names]
    for figure in group:
        unplaced = ""
        if not figure.names and not names:
            unplaced = "no measure is named for it"
        elif not figure.names and figure.role == "value" and len(names) == len(values):
            figure = replace(figure, names=names[values.index(figure.start)])
        elif not figure.names:
            figure = replace(figure, names=names[0])
            if len(names) > 1:
                unplaced = "several measures are named for it"
            elif figure.role == "value" and (figure.start != values[0] or (values[1:] and _FROM.search(figure.near))):
                unplaced = f"several figures are given for {names[0][0].text}"
        yield replace(figure, unplaced=figure.unplaced or unplaced)
