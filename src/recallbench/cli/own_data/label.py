"""`recallbench label`: make a labelled set by looking at what a store finds."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import date
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import options
from recallbench.cli.command import PATH, Whole, argument, command, option
from recallbench.escaping.terminal import visible, visible_lines
from recallbench.scoring.depth import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recallbench.studies.logs.proposals import Proposal

KEYS = "y relevant, n not, 0-9 a grade, a none of the rest, s skip this query, m more of the text, q stop"
SHOWN = 400
"""Characters of a document that are shown at first."""


@command(
    argument("folder", "A folder with corpus.jsonl; labels go to its gold.jsonl.", metavar="DIR", type=PATH),
    option("queries", "Queries to label: a text file, or JSON lines [default: DIR/queries.jsonl].", type=PATH),
    option("query", "A query to label; repeat it for several.", multiple=True),
    option("scope", "The scope (or tenant) of queries that name none, where documents have scopes."),
    option("k", "How many results are proposed for each query.", type=Whole(1, DEEPEST), default=10),
    option("store", "The store that proposes.", default="bm25"),
    options.DSN,
    options.EMBEDDER,
    options.MAX_TOKENS,
    options.BACKEND,
    *options.of_stores(),
    options.CACHE_DIR,
    options.QUIET,
    options.CONFIG,
    epilog=f"Keys: {KEYS}. Labels are saved query by query; stop and go on at any time.",
)
def label(
    folder: Path,
    queries: Path | None,
    query: tuple[str, ...],
    scope: str | None,
    k: int,
    quiet: bool,
    **of_run: Any,
) -> int:
    """Propose a store's top results for each query, and save the label (y, n or a grade) that you type."""
    from recallbench.cli.bars import listener
    from recallbench.corpora.labelled_sets.label_book import LabelBook, UnlabelledQuery, queries_to_label
    from recallbench.corpora.labelled_sets.set_name import SetName, folder_word
    from recallbench.studies.logs.proposals import propose

    book = LabelBook(folder)
    if cut := book.mend():
        warning = f"the last line of {book.path} was cut off: set aside in {cut}, and its query is asked again"
        print(f"recallbench: {visible(warning)}", file=sys.stderr)
    done = book.labelled()
    if query:
        free = (name for number in count(1) if (name := f"q{number}") not in done)
        all_queries = [UnlabelledQuery(name, text) for name, text in zip(free, query, strict=False)]
    else:
        all_queries = queries_to_label(folder, queries)
    all_queries = [
        unlabelled if unlabelled.scope or unlabelled.tenant else replace(unlabelled, scope=scope or "")
        for unlabelled in all_queries
    ]
    left = [unlabelled for unlabelled in all_queries if unlabelled.id not in done]
    print(f"{len(all_queries) - len(left)} of {len(all_queries)} queries are labelled; {KEYS}", file=sys.stderr)
    proposing = options.run_options(corpus=str(SetName(folder_word(folder.name), "0" * 64)), **of_run)
    labelled = 0
    for number, (unlabelled, proposals) in enumerate(
        propose(folder, left, proposing, k, listener(quiet)) if left else (),
        len(all_queries) - len(left) + 1,
    ):
        print(f"\n[{number} of {len(all_queries)}] {visible_lines(unlabelled.text)}")
        grades = _judged(proposals)
        if grades is None:
            break
        if grades and not any(grades.values()):
            print("  Nothing of this is relevant. Should the query find nothing at all?")
            grades = grades if _key() == "y" else {}
        if grades:
            book.append(unlabelled, grades, date.today())
            labelled += 1
    print(f"{labelled} queries labelled in {book.path}, {len(done) + labelled} in all")
    return 0


def _judged(proposals: Sequence[Proposal]) -> dict[str, float] | None:
    """Return grades by id; empty when the query is skipped, None when the user stops."""
    grades: dict[str, float] = {}
    for place, proposal in enumerate(proposals, 1):
        print(f"\n  {place}. {visible(proposal.id)}: {visible(_shortened(proposal.text))}")
        while True:
            key = _key()
            if key == "m":
                print(visible_lines(proposal.text))
            elif key in ("q", None):
                return None
            elif key == "s":
                return {}
            elif key == "a":
                return grades | {rest.id: 0.0 for rest in proposals[place - 1 :]}
            elif key in ("y", "n") or key.isdigit():
                grades[proposal.id] = float(key) if key.isdigit() else float(key == "y")
                break
            else:
                print(f"  {KEYS}")
    return grades


def _key() -> str | None:
    try:
        return input("  relevant? ").strip().lower()[:1]
    except EOFError:
        return None


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}… (m shows all)"
