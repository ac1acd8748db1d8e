"""What the record of a canary says against its own strata and questions: a figure that is edited is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from recallbench.corpora.labelled_sets.canary_record import CanaryRecord
from recallbench.scoring.planning.proportion import NEAR, Cell, stated_proportion
from recallbench.studies.logs.canary.candidates import Candidate
from recallbench.studies.logs.canary.mix import stratum_name

WITHIN = 1e-3
"""The same for questions, of which there are up to 300."""


def contradictions(record: CanaryRecord, questions: Sequence[Candidate]) -> Iterator[str]:
    """Yield what the record states otherwise than its strata, and its questions, tell; these go by what it goes by."""
    if problem := _counts(record, questions):
        # Nothing that follows can be worked out from counts that are wrong.
        yield problem
        return
    yield from _strata(record)
    found = stated_proportion(record.strata)
    if abs(record.bias - found.bias) > NEAR:
        yield f"bias {record.bias:g}, and its strata tell {found.bias:.4f}"
    if found.off > 1 + WITHIN if record.proportional else found.off < 1 - WITHIN:
        yield f"proportional {str(record.proportional).lower()}, and its strata are {found.off:.2f} questions off"
    for name, stated, told in (
        ("hard.drawn", record.hard.drawn, found.hard),
        ("hard.production", record.hard.production, found.hard_in_production),
    ):
        if abs(stated - told) > NEAR:
            yield f"{name} {stated:g}, and its strata tell {told:.4f}"
    findable = sum(question.findable for question in questions)
    if record.detects.n != findable:
        yield f"detects.n {record.detects.n}, and {findable} questions have something to find"


def _counts(record: CanaryRecord, questions: Sequence[Candidate]) -> str:
    """Return how the numbers of questions differ; empty where they do not."""
    if record.questions != len(questions):
        return f"{record.questions} questions, and the folder holds {len(questions)}"
    if strange := record.hard.questions.keys() - {question.id for question in questions}:
        return f"a hard question {min(strange)}, and the folder has none"
    held = Counter[Cell]((each.kind, each.tenant, each.id in record.hard.questions) for each in questions)
    stated = Counter[Cell]()
    for stratum in record.strata:
        stated[stratum.kind, stratum.tenant, stratum.hard] += stratum.drawn
    for cell in sorted(held.keys() | stated.keys()):
        if held[cell] != stated[cell]:
            what = f"{'hard' if cell[2] else 'other'} questions of {stratum_name(cell[:2])}"
            return f"{stated[cell]} {what}, and the folder holds {held[cell]}"
    return ""


def _strata(record: CanaryRecord) -> Iterator[str]:
    cells = Counter((stratum.kind, stratum.tenant, stratum.hard) for stratum in record.strata)
    if max(cells.values()) > 1:
        yield "one stratum twice"
    total = sum(stratum.share for stratum in record.strata)
    if abs(total - 1) > NEAR:
        yield f"strata with {total:.4f} of production, and not all of it"
    sizes = Counter[tuple[str, str]]()
    for stratum in record.strata:
        name = stratum_name((stratum.kind, stratum.tenant))
        sizes[stratum.kind, stratum.tenant] += stratum.drawn
        if stratum.drawn > stratum.available:
            yield f"{stratum.drawn} of {stratum.available} questions of {name}"
        if abs(stratum.quota - stratum.share * record.questions) > WITHIN:
            yield f"quota {stratum.quota:g} of {name}, and {stratum.share * record.questions:.3f} is its share"
        if stratum.drawn and not stratum.weight and stratum.quota > WITHIN:
            yield f"no weight of {name}, which is drawn"
    for (kind, tenant), size in sizes.items():
        both = [s for s in record.strata if (s.kind, s.tenant) == (kind, tenant) and s.weight]
        # What is drawn on the average adds up to the size, as finely as weights are written down.
        asked = sum(s.quota / s.weight for s in both if s.weight)
        rounding = sum(s.quota / s.weight * (1e-6 / s.weight + 1e-6 / max(s.quota, 1e-6)) for s in both if s.weight)
        if both and abs(asked - size) > WITHIN + rounding:
            name = stratum_name((kind, tenant))
            yield f"weights of {name} that stand for {asked:.2f} questions, and {size} are drawn"
