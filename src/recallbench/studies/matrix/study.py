"""A matrix from its encoders and corpora to a folder: every cell is a run, and what is there is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

from recallbench import __version__
from recallbench.addresses import recorded_name
from recallbench.cluster.engine import HERE, Engine
from recallbench.corpora.labelled_sets.set_name import is_set_name, parse_set_name, plain_names
from recallbench.corpora.records import Corpus
from recallbench.corpora.registry import CORPORA, GROUPS
from recallbench.errors import Blocked, InputError, RecallBenchError, UsageError
from recallbench.escaping.paths import last_names
from recallbench.interruption import InterruptedWithResult
from recallbench.progress import Progress
from recallbench.reports.matrix.document import MatrixDocument, read_matrix
from recallbench.results.folder import check_writable, folder_name, free_folder
from recallbench.runs.on_nodes import run_on_nodes
from recallbench.runs.options import Options
from recallbench.runs.placement import results_parent
from recallbench.runs.plan import Plan, plan_run
from recallbench.runs.writing import stated_circumstances
from recallbench.scoring.measures.registry import PRIMARY
from recallbench.stores.registry import asks_vectors
from recallbench.studies.matrix.cell import MadeElsewhere, MeasuredCell, measure_cell, missing_run
from recallbench.studies.matrix.parts import matrix_document
from recallbench.studies.matrix.windows import WindowedEncoder
from recallbench.studies.matrix.writing import write_matrix

NAME = "matrix"
"""In place of a corpus, in the folder that results lie in by default."""
CELL_FOLDER = "cells"


@dataclass(frozen=True, slots=True)
class MatrixStudy:
    """A matrix that is written."""

    document: MatrixDocument
    folder: Path


def measure_matrix(
    encoders: Sequence[WindowedEncoder], corpora: Sequence[Options], progress: Progress, today: date
) -> MatrixStudy:
    """Measure every encoder on every corpus, and write what was found; raises Blocked where no cell has figures.

    The options of a corpus name its store. Raises UsageError for what can't be measured, before anything is.
    """
    _refuse_wordless(corpora[0])
    engine = corpora[0].engine
    corpora = [replace(options, engine=HERE) for options in corpora]  # whole cells are handed on, and nothing of one
    plans = [
        [plan_run(replace(options, embedder=each.typed, max_tokens=each.max_tokens)) for each in encoders]
        for options in corpora
    ]
    _refuse_repeats([of_corpus[0] for of_corpus in plans])
    parent = results_parent(replace(corpora[0], corpus=NAME))
    folder = free_folder(parent, folder_name(NAME, today, corpora[0].label))
    check_writable(folder)
    for line in dict.fromkeys(line for of_corpus in plans for plan in of_corpus for line in plan.announcements):
        progress.note(line)
    cells: list[MeasuredCell] = []
    try:
        for cell in _measure(encoders, plans, parent / CELL_FOLDER, engine, progress, today):
            cells.append(cell)
    except KeyboardInterrupt as error:
        there, total = sum(not cell.failure for cell in cells), len(plans) * len(encoders)
        kept = f"{there} of {total} cells {'is' if there == 1 else 'are'} kept"
        raise InterruptedWithResult(f"{kept}: the same command goes on from there") from error
    if all(cell.failure for cell in cells):
        raise Blocked(
            "none of the cells could be measured",
            expected="at least one encoder on one corpus",
            found="; ".join(dict.fromkeys(cell.failure for cell in cells)),
            remedy="recallbench doctor says what is missing",
        )
    circumstances = stated_circumstances(corpora[0], folder)
    environment = {name: circumstances[name] for name in ("git", "machine", "packages", "variables")}
    environment["command"] = _stated(circumstances["command"], encoders, plans)
    measures = [measure for measure in PRIMARY if measure.k <= corpora[0].depth]
    document = matrix_document(__version__, plans, encoders, cells, measures, environment, folder, progress)
    if not any(cell.result is not None and not cell.kept for cell in cells):
        for standing in sorted(parent.glob(f"{NAME}_*"), key=lambda path: (len(path.name), path.name)):
            if _label(standing) == _label(folder) and (kept_document := _says(standing, document)) is not None:
                progress.note(f"nothing was measured, and {standing} says the same: no other folder is written")
                return MatrixStudy(kept_document, standing)
    return MatrixStudy(document, write_matrix(folder, document))


def _label(folder: Path) -> str:
    """Return what the name of a matrix' folder has besides its day and its number."""
    return re.sub(r"^[^_]*_\d{8}|_\d+$", "", folder.name)


def _says(folder: Path, document: MatrixDocument) -> MatrixDocument | None:
    """Return the matrix in a folder where it says the same, whoever measured its cells; else None."""
    try:
        kept = read_matrix(folder)
    except InputError:
        return None
    told, other = (
        each.model_copy(
            update={"environment": {}, "cells": [cell.model_copy(update={"kept": True}) for cell in each.cells]}
        )
        for each in (kept, document)
    )
    return kept if told == other else None


def _refuse_wordless(options: Options) -> None:
    store = options.store or ""
    if not asks_vectors(store, environ=options.environ, options=options.store_options):
        raise UsageError(
            f"the store {recorded_name(store)} needs no vectors",
            expected="a store that searches vectors: a matrix compares encoders",
            found=f"--store {recorded_name(store)}",
            remedy="choose another --store, such as exact; BM25 stands beside the encoders anyway",
        )


def _stated(command: Any, encoders: Sequence[WindowedEncoder], plans: Sequence[Sequence[Plan]]) -> list[str]:
    """Return the words of the command with encoders and corpora by their names: folders of one machine help nobody."""
    names = {
        "--encoders": ",".join(encoder.name for encoder in encoders),
        "--corpora": ",".join(_word(of_corpus[0].corpus.name) for of_corpus in plans),
    }
    words = [str(word) for word in command]
    stated = [names.get(before, word) for before, word in zip(["", *words], words, strict=False)]
    return [
        f"{name}={names[name]}" if (name := word.partition("=")[0]) in names and "=" in word else word
        for word in stated
    ]


def _word(corpus: str) -> str:
    """Return what names a corpus in a command: a set of one's own by its folder, wherever that lies."""
    if not is_set_name(corpus):
        return corpus
    folder = parse_set_name(corpus).folder
    return f"./{folder}" if folder in {*CORPORA, *GROUPS} else folder


def _refuse_repeats(plans: Sequence[Plan]) -> None:
    names = [plan.corpus.name for plan in plans]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is named twice", expected="each corpus once", remedy="leave one out")


def _measure(
    encoders: Sequence[WindowedEncoder],
    plans: Sequence[Sequence[Plan]],
    parent: Path,
    engine: Engine,
    progress: Progress,
    today: date,
) -> Iterator[MeasuredCell]:
    study = _identity(encoders, plans)
    opened_each = [_opened(of_corpus[0], progress) for of_corpus in plans]
    made: MadeElsewhere = {}
    if engine.on_nodes:
        made = _made_on_nodes(encoders, plans, opened_each, parent, study, engine, progress, today)
    with progress.stage("the matrix", len(plans) * len(encoders), "cells") as advance:
        for of_corpus, opened in zip(plans, opened_each, strict=True):
            for encoder, plan in zip(encoders, of_corpus, strict=True):
                if isinstance(opened, RecallBenchError):
                    progress.note(f"{encoder.name} on {plain_names(plan.corpus.name)} failed: {opened.brief}")
                    yield MeasuredCell(encoder, plan.corpus.name, failure=last_names(opened.brief))
                else:
                    yield measure_cell(encoder, plan, opened, parent, study, made, progress, today)
                advance(1)


def _opened(plan: Plan, progress: Progress) -> Corpus | RecallBenchError:
    try:
        opened = plan.open_corpus(progress)
        _ = opened.sha256  # a file that can't be read fails here
    except RecallBenchError as error:
        return error
    return opened


def _made_on_nodes(
    encoders: Sequence[WindowedEncoder],
    plans: Sequence[Sequence[Plan]],
    opened: Sequence[Corpus | RecallBenchError],
    parent: Path,
    study: str,
    engine: Engine,
    progress: Progress,
    today: date,
) -> MadeElsewhere:
    """Have the cells that are not there made by the nodes of a cluster."""
    folders, wanted = dict[Path, Path](), dict[Path, Options]()
    for of_corpus, corpus in zip(plans, opened, strict=True):
        for encoder, plan in zip(encoders, of_corpus, strict=True):
            if isinstance(corpus, RecallBenchError):
                continue
            with suppress(RecallBenchError):  # the cell itself tells of it
                if (lacking := missing_run(encoder, plan, corpus, parent, study, progress)) is not None:
                    folder, run = lacking
                    assert run.folder is not None
                    folders[run.folder], wanted[run.folder] = folder, replace(run, engine=engine)
    failed = run_on_nodes(wanted, progress, today)
    return {folder: failed.get(place) for place, folder in folders.items()}


def _identity(encoders: Sequence[WindowedEncoder], plans: Sequence[Sequence[Plan]]) -> str:
    """Return the hash of the whole matrix: what stands for its cells where a store's own code decides them too."""
    asked = {"encoders": [each.name for each in encoders], "corpora": [of[0].corpus.name for of in plans]}
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
