"""The outcome of `recallbench stages DIR`: the JSON document, the sheet, and the other forms of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from recallbench.escaping.markdown import code, inline, opening
from recallbench.escaping.web import html
from recallbench.reports.cells import ten_digits
from recallbench.reports.comparison import LEVEL, p_text, signed, signed_range
from recallbench.reports.page import Page, listing
from recallbench.reports.part import DocumentPart
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.stages import table as stage_table
from recallbench.reports.stages.beside import StageCostPart, StageCosts
from recallbench.reports.stages.flow import FLOW_STYLE, flow
from recallbench.reports.table import Part, Table
from recallbench.results.effect_part import GoldPart
from recallbench.results.metrics import OVERALL
from recallbench.results.pipeline_part import PipelinePart
from recallbench.scoring.gold_moves import Way


class MovedGoldPart(DocumentPart):
    stage: str
    question_id: str
    kind: str
    gold: str = Field(description="the gold segment that moved, by its own name where it has one")
    before: int | None = Field(description="its place in what the stage is compared with; null where it is not there")
    after: int | None = Field(description="its place in the stage's own list")


class StageDocument(DocumentPart):
    """What each stage of a result's pipeline did, and what that was worth."""

    schema_version: Literal["1"]
    recallbench_version: str
    result: str
    asked: int
    pipeline: PipelinePart
    costs: dict[str, StageCostPart] = Field(description="by stage")
    currency: str
    priced: str = Field(description="the day of the prices, and whose they are")
    told: list[str] = Field(description="stages that changed nothing, or nothing that a recall can tell of")
    times: list[str] = Field(description="the median of a whole query with its parts, and what is wrong with it")
    way: Way | None = Field(description="which gold `moved` names; null where none was asked for")
    moved: list[MovedGoldPart]


def title(document: StageDocument) -> str:
    """Return the pipeline in a line."""
    return f"{document.pipeline.words}, {document.asked} questions"


def parts(document: StageDocument) -> list[Part]:
    """Return lines and tables for a terminal."""
    if document.way is not None:
        return [_moved_sentence(document), *([moved_table(document)] if document.moved else [])]
    printed: list[Part] = [title(document), *document.told]
    for table in _tables(document):
        printed += ["", f"{table.caption}:", table]
    return [*printed, "", *_reading(document)]


NAMED = 2
"""Stages that the last line names."""


def conclusion(document: StageDocument) -> Conclusion | None:
    """Return which stages are worth having, by the corrected tests; None where questions were asked for by name."""
    if document.way is not None:
        return None
    effects = stage_table.effects_of(document.pipeline)
    parts = [(name, part) for name, effect in effects.items() for part in effect.without.get(OVERALL, ())]
    settled = [(name, part) for name, part in parts if part.p_holm is not None and part.p_holm <= LEVEL]
    gains = list(dict.fromkeys(name for name, part in settled if part.difference > 0))
    losses = list(dict.fromkeys(name for name, part in settled if part.difference < 0))
    both = [name for name in gains if name in losses]
    told = [f"{name} makes it better" for name in gains if name not in both]
    told += [f"{name} makes it worse" for name in losses if name not in both]
    told += [f"{name} makes one measure better and another worse" for name in both]
    if not parts:
        return Conclusion("No stage can be compared with the pipeline without it", tone="open")
    if not told:
        belief = "that does not make them worthless: fewer questions show less"
        return Conclusion("No stage is shown to change what is found", belief, tone="open")
    _, first = next(pair for pair in settled)
    numbers = f"{first.measure} {signed(first.difference)} ({signed_range(first.low, first.high)}), {first.n} questions"
    more = [f"{len(told) - NAMED} more change it"] if len(told) > NAMED else []
    happened = f"{'; '.join([*told[:NAMED], *more])}: {settled[0][0]} {numbers}, p {p_text(first.p_holm or 0.0)}"
    return Conclusion(happened, "p is corrected, and decides", tone="bad" if losses else "good")


def markdown(document: StageDocument) -> str:
    """Return the same in Markdown."""
    if document.way is not None:
        rows = moved_table(document).markdown() if document.moved else []
        return "\n".join([opening(_moved_sentence(document)), "", *rows]).rstrip() + "\n"
    blocks = [f"{code(document.pipeline.words)}, {document.asked} questions"]
    blocks += [opening(sentence) for sentence in document.told]
    for table in _tables(document):
        blocks += [opening(f"{table.caption}:"), "\n".join(table.markdown())]
    readings = "\n".join(f"- {inline(sentence)}" for sentence in _reading(document))
    return "\n\n".join([*blocks, readings]) + "\n"


def page(document: StageDocument) -> str:
    """Return a self-contained page: the flow, the tables, and the questions that were asked for."""
    body = flow(document.pipeline, _costs(document).beside)
    body += [f"<p><strong>{html(sentence)}.</strong></p>" for sentence in document.told]
    for table in (*_tables(document), *([moved_table(document)] if document.moved else [])):
        body += table.html()
    return Page(title(document), [*body, *listing(_reading(document))], style=FLOW_STYLE).html()


def sheet(document: StageDocument) -> Table:
    """Return a row for each stage, or for each gold segment that was asked for, for a spreadsheet: ten digits."""
    if document.way is not None:
        return moved_table(document, missing="")
    effects = stage_table.effects_of(document.pipeline)
    k = next(iter(effects.values())).k
    recalls = (f"recall_any@{k}", f"recall_frac@{k}")
    compared = list(dict.fromkeys(part.measure for e in effects.values() for part in e.without.get(OVERALL, ())))
    moved = [f"{way} {what}" for way in ("promoted", "demoted", "lost") for what in ("segments", "questions")]
    reached = [f"{recall}{end}" for recall in recalls for end in ("", " ceiling")]
    differences = [f"{measure} {name}" for measure in compared for name in _DIFFERENCE]
    cost = ["timed", "p50 ms", "p95 ms", "tokens in", "tokens out", f"{document.currency} per 1,000 questions"]
    rows = []
    for stage in document.pipeline.stages:
        effect, costs = effects.get(stage.name), document.costs[stage.name]
        cells: list[object] = [stage.name, stage.kind, stage.method]
        if effect is None:
            cells += [None] * (5 + len(moved) + len(reached) + len(differences))
        else:
            without = {part.measure: part for part in effect.without.get(OVERALL, ())}
            cells += [effect.calls, effect.against, effect.changed, effect.changed_sets, effect.best_leg]
            cells += [n for gold in (effect.promoted, effect.demoted, effect.lost) for n in _counts(gold)]
            cells += [(values or {}).get(recall) for recall in recalls for values in (effect.reached, effect.pool)]
            cells += [getattr(without.get(measure), name, None) for measure in compared for name in _DIFFERENCE]
        used = costs.tokens
        rows.append([*cells, costs.timed, costs.p50_ms, costs.p95_ms, used.prompt, used.output, costs.price])
    head = ["stage", "kind", "method", "questions", "compared with", "changed", f"first {k} changed", "best leg"]
    return Table([*head, *moved, *reached, *differences, *cost], [list(map(ten_digits, row)) for row in rows])


def moved_table(document: StageDocument, missing: str = "–") -> Table:
    """Return a row for each gold segment that moved."""
    rows = [
        [m.stage, m.question_id, m.kind, m.gold, *(missing if at is None else str(at) for at in (m.before, m.after))]
        for m in document.moved
    ]
    head = ("stage", "question", "kind", "gold", "place before", "place after")
    return Table(head, rows, caption=_moved_sentence(document), left=head[:4])


_DIFFERENCE = ("n", "without", "value", "difference", "low", "high", "p", "p_holm")


def _costs(document: StageDocument) -> StageCosts:
    return StageCosts(document.pipeline, document.costs, document.currency, document.priced)


def _tables(document: StageDocument) -> list[Table]:
    return stage_table.tables(document.pipeline, _costs(document).beside)


def _reading(document: StageDocument) -> list[str]:
    return [*stage_table.reading(document.pipeline, _costs(document)), *document.times]


def _moved_sentence(document: StageDocument) -> str:
    questions = len({move.question_id for move in document.moved})
    return f"gold {document.way}: {len(document.moved)} segments in {questions} questions"


def _counts(gold: GoldPart | None) -> list[int | None]:
    return [None, None] if gold is None else [gold.segments, gold.questions]
