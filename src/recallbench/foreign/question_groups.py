"""Groups of a folder's questions: denominators of figures, and the parts that rows or dataset name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from recallbench.foreign.corpus_index import CorpusIndex, CorpusQuestion
from recallbench.foreign.layouts.layout import Imported, ImportedQuestion
from recallbench.foreign.universes import Denominator
from recallbench.scoring.judgement import Bools

_COUNT = re.compile(r"[0-9]{1,9}")


def denominators_of(
    imported: Imported, dataset: CorpusIndex | None, known: Sequence[CorpusQuestion | None]
) -> tuple[Denominator, ...]:
    """Return every way of counting questions that a published figure may follow; the protocol's comes first."""
    questions = imported.questions
    everyone = np.ones(len(questions), dtype=np.bool_)
    without_gold = _mask(not question.gold for question in questions)
    denominators = [Denominator("all rows with gold", everyone, protocol=True)]
    if without_gold.any():
        denominators += [Denominator("all rows", everyone, empty=value) for value in (0.0, 1.0)]
    if absent := _absent(imported, dataset):
        whole = f"all {len(questions) + absent} of the dataset"
        denominators += [Denominator(whole, everyone, absent, empty=value) for value in (0.0, 1.0)]
    named = [entry.denominators if entry else row.denominators for row, entry in zip(questions, known, strict=True)]
    parts = {
        "without abstention": _mask(not question.abstention for question in questions),
        "without adversarial": _mask(not _adversarial(question) for question in questions),
        **{
            name: _mask(name in names for names in named)
            for name in dict.fromkeys(name for names in named for name in sorted(names))
        },
    }
    seen = {everyone.tobytes()}
    for name, mask in parts.items():
        if mask.tobytes() not in seen and mask.any():
            seen.add(mask.tobytes())
            denominators.append(Denominator(name, mask))
            if (mask & without_gold).any():
                denominators += [Denominator(name, mask, empty=value) for value in (0.0, 1.0)]
    return tuple(denominators)


def slices_of(questions: Sequence[ImportedQuestion], known: Sequence[CorpusQuestion | None]) -> dict[str, Bools]:
    """Return the parts of the questions by label, as their rows group them and as the dataset does."""
    abstention = _mask(question.abstention for question in questions)
    slices: dict[str, Bools] = {}
    for grouping in dict.fromkeys(name for question in questions for name in question.kinds):
        values = [question.kinds.get(grouping, "") for question in questions]
        parts = {value: _mask(each == value for each in values) for value in dict.fromkeys(values)}
        # LongMemEval's three kinds with one session of evidence are sometimes published together.
        parts["single-session-*"] = _mask(value.startswith("single-session") for value in values)
        for value, mask in parts.items():
            slices.setdefault(f"{grouping} {value}", mask)
            if abstention.any():
                slices.setdefault(f"{grouping} {value} without abstention", mask & ~abstention)
    slices.setdefault("abstention", abstention)
    for kind in dict.fromkeys(entry.kind for entry in known if entry):
        slices.setdefault(f"kind {kind}", _mask(entry is not None and entry.kind == kind for entry in known))
    return {label: mask for label, mask in slices.items() if mask.any()}


def _mask(members: Iterable[bool]) -> Bools:
    return np.fromiter(members, dtype=np.bool_)


def _absent(imported: Imported, dataset: CorpusIndex | None) -> int:
    """Return how many questions of the dataset were not asked, as far as folder or dataset tell."""
    stated = imported.facts.get("n_questions_total", "")
    whole = len(dataset.questions) if dataset else int(stated) if _COUNT.fullmatch(stated) else 0
    return max(0, whole - len(imported.questions))


def _adversarial(question: ImportedQuestion) -> bool:
    return "adversarial" in question.kinds.values() or (bool(question.scope) and question.kinds.get("category") == "5")
