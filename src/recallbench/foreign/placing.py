"""The rankings of another tool's folder, in this tool's ids of questions and segments."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from recallbench.errors import InputError
from recallbench.foreign.case import corpus_rules, index_of
from recallbench.foreign.corpus_index import named_sessions, session_name
from recallbench.foreign.layouts import own
from recallbench.foreign.layouts.registry import described_layouts, find_layout
from recallbench.foreign.rescoring import rescore
from recallbench.protocol.frozen import load
from recallbench.results.dataset import file_with_hash
from recallbench.results.folder import NAME_ONE

SHOWN = 4
"""Files that are named of a folder that no layout fits."""


def placed_run(
    folder: Path, corpus_files: Sequence[Path], environ: Mapping[str, str]
) -> tuple[str, dict[str, list[str]]]:
    """Return a foreign folder's corpus, and its rankings by question in this tool's ids; a turn is its session.

    Raises InputError where no layout fits the folder, its corpus can't be had, or ids may be of other haystacks.
    """
    layout = find_layout(folder)
    if layout is None:
        if any(own.recognises(inside) for inside in folder.iterdir()):
            raise InputError(
                f"{folder} is a folder of results",
                expected="each result by itself",
                found="results inside it",
                remedy=f"recallbench table {shlex.quote(str(folder))}/*",
            )
        inside = sorted(entry.name for entry in folder.iterdir())[:SHOWN]
        raise InputError(
            f"{folder} is no result folder",
            expected=f"a folder that `recallbench run` wrote, or of another tool: {described_layouts()}",
            found=f"neither metrics.json nor what another tool publishes, but {', '.join(inside)}"
            if inside
            else "an empty folder",
            remedy=NAME_ONE,
        )
    imported, rules = layout.read(folder), load()
    file = file_with_hash(corpus_files, imported.facts.get("dataset_sha256", ""))
    dataset, why = index_of(imported, file, rules, environ)
    corpus = corpus_rules(imported, file, rules)
    if dataset is None or corpus is None:
        raise _unplaced(folder, "over a corpus that is here", why)
    imported = named_sessions(imported, dataset)
    rescored = rescore(imported, dataset)
    if not rescored.own_view:
        leak = next(iter(rescored.leaks), None)
        found = f"{leak.id} for {leak.question}: {leak.why}" if leak else "nothing that shows it"
        raise _unplaced(folder, "shown to rank a question's own haystack alone", found)
    ids: dict[tuple[str, str], str] = {}
    for id, place in dataset.segments.items():
        ids.setdefault(place, id)
    run = {}
    for question, known in zip(imported.questions, rescored.known, strict=True):
        if known is not None:
            places = ((known.scope, session_name(dataset.locate(id)[1])) for id in question.ranked)
            run[known.id] = [ids[place] for place in places if place in ids]
    return corpus.name, run


def _unplaced(folder: Path, expected: str, found: str) -> InputError:
    return InputError(
        f"{folder} can't stand in a table",
        expected=f"a folder {expected}",
        found=found,
        remedy="`recallbench audit` tells what it holds; --corpus-file names its corpus",
    )
