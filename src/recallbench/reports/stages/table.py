"""What each stage of a pipeline did and what that was worth, as tables and in words."""

from __future__ import annotations

from collections.abc import Set

from recallbench.model_endpoint import GIVEN_UP
from recallbench.reports.cells import figure
from recallbench.reports.comparison import LEVEL, p_text, signed, signed_range
from recallbench.reports.stages.beside import Beside, StageCosts
from recallbench.reports.table import Table
from recallbench.results.effect_part import EffectPart, GoldPart
from recallbench.results.metrics import OVERALL
from recallbench.results.pipeline_part import PipelinePart

AGAINST = {
    "input": "its input",
    "first leg": "the first leg",
    "best leg": "the best leg",
    "pipeline without it": "the pipeline without it",
}


def effects_of(pipeline: PipelinePart) -> dict[str, EffectPart]:
    """Return the effects of the stages that decide a ranking, by name."""
    return {stage.name: stage.effect for stage in pipeline.stages if stage.effect is not None}


def tables(pipeline: PipelinePart, beside: Beside | None = None) -> list[Table]:
    """Return what each stage did, what it was worth, and that by kind where there are several."""
    every = (did_table(pipeline, beside), worth_table(pipeline), kinds_table(pipeline))
    return [table for table in every if table.rows]


def did_table(pipeline: PipelinePart, beside: Beside | None = None) -> Table:
    """Return a row for each stage: what it changed, the gold it moved, and what the list that it handed on holds."""
    effects = effects_of(pipeline)
    k = next(iter(effects.values())).k
    counts = ("questions", "changed", f"first {k} changed", "promoted", "demoted", "lost")
    measured = (f"recall_any@{k}", "ceiling of any", f"recall_frac@{k}", "ceiling of frac")
    head = ("stage", "kind", *counts, *measured, *(beside or {}))
    rows = []
    for stage in pipeline.stages:
        more = [cells.get(stage.name, "–") for cells in (beside or {}).values()]
        rows.append([stage.name, stage.kind, *_did(effects.get(stage.name)), *more])
    return Table(head, rows, caption="What each stage did", left=("stage", "kind"))


def worth_table(pipeline: PipelinePart) -> Table:
    """Return the paired difference to the pipeline without each stage, a row for each measure."""
    head = ("stage", "measure", "n", "without it", "with it", "difference", "95% interval", "p", "p (Holm)", "win/loss")
    rows = []
    for name, effect in effects_of(pipeline).items():
        for part in effect.without.get(OVERALL, ()):
            holm = "–" if part.p_holm is None else p_text(part.p_holm) + (" *" if part.p_holm <= LEVEL else "")
            rows.append(
                [
                    name,
                    part.measure,
                    str(part.n),
                    figure(part.without),
                    figure(part.value),
                    signed(part.difference),
                    signed_range(part.low, part.high),
                    p_text(part.p),
                    holm,
                    f"{part.wins}/{part.losses}",
                    "run again" if effect.again else "kept lists",
                ]
            )
    caption = "The pipeline with each stage and without it"
    return Table((*head, "from"), rows, caption=caption, left=("stage", "measure", "from"))


def kinds_table(pipeline: PipelinePart) -> Table:
    """Return the differences by kind of question, a row for each stage and kind."""
    effects = effects_of(pipeline)
    measures = [part.measure for part in next((e.without[OVERALL] for e in effects.values() if e.without), [])]
    kinds = {kind for effect in effects.values() for kind in effect.without if kind != OVERALL}
    rows = [
        [
            *(name, kind, str(parts[0].n)),
            *(f"{signed(part.difference)} ({signed_range(part.low, part.high)})" for part in parts),
        ]
        for name, effect in effects.items()
        for kind, parts in effect.without.items()
        if kind != OVERALL and len(kinds) > 1
    ]
    caption = "The difference that each stage makes, by kind, with its 95% interval"
    return Table(("stage", "kind", "n", *measures), rows, caption=caption)


def idle_sentences(pipeline: PipelinePart) -> list[str]:
    """Return a sentence for each stage that gave its endpoint up, or changed nothing, or nothing that recall tells."""
    told = ((name, _idle(effect)) for name, effect in effects_of(pipeline).items())
    given_up = [
        f"{stage.name} gave its endpoint up {stage.settings[GIVEN_UP]}"
        for stage in pipeline.stages
        if GIVEN_UP in stage.settings
    ]
    return [*given_up, *(f"{name} {words}" for name, words in told if words)]


def reading(pipeline: PipelinePart, costs: StageCosts | None = None) -> list[str]:
    """Return how the tables are read, a sentence each."""
    effects = effects_of(pipeline)
    k = next(iter(effects.values())).k
    compared: dict[str, list[str]] = {}
    for name, effect in effects.items():
        if effect.against is not None:
            compared.setdefault(AGAINST[effect.against], []).append(name)
    against = "; ".join(f"{', '.join(names)} with {what}" for what, names in compared.items())
    best = next((effect.best_leg for effect in effects.values() if effect.best_leg), None)
    again = [name for name, effect in effects.items() if effect.again]
    lines = [
        f"changed: rankings in another order or with other members, and those whose first {k} have other members"
        f"{f'; compared are {against}' if against else '; nothing here can be compared'}.",
        f"promoted and demoted: gold segments brought into the first {k} and put out of them, in so many questions.",
        f"recall_any@{k} and recall_frac@{k}: what the list that a stage hands on reaches as it stands, "
        "nothing for a question that failed.",
        "ceiling: what the best order of the candidates handed on would reach; no later stage can pass it.",
    ]
    if best is not None:
        lines.append(
            f"lost: gold that {best}, the leg with the highest recall_any@{k}, had in its first {k} and fusion has not."
        )
    lines.append(
        "with and without: the same questions, paired, without those that failed; Holm corrects for all stages and "
        "measures of the table." + (f" Without {', '.join(again)} the pipeline was run once more." if again else "")
    )
    if best is not None:
        first = next(stage.name for stage in pipeline.stages if stage.kind == "search")
        lines += _leg_alone(best, first, {effect.against for effect in effects.values()})
    lines += [] if costs is None else costs.reading()
    methods = {part.method for effect in effects.values() for part in effect.without.get(OVERALL, ())}
    return [*lines, f"intervals: {'; '.join(sorted(methods))}."] if methods else lines


def _leg_alone(best: str, first: str, against: Set[str | None]) -> list[str]:
    if "best leg" in against:
        return [f"without fusion {best}, the best leg, goes on alone."]
    # A result that was made when the first leg alone was tried.
    told = (
        f"without fusion the first leg, {first}, goes on alone, which is not the best one: what fusion adds to "
        f"{best} is told by the other legs' rows, or with {best} as the first leg."
    )
    return [told] if best != first else []


def _did(effect: EffectPart | None) -> list[str]:
    if effect is None:
        return ["–"] * 10
    reached, pool = effect.reached or {}, effect.pool or {}
    names = (f"recall_any@{effect.k}", f"recall_frac@{effect.k}")
    return [
        str(effect.calls),
        "–" if effect.changed is None else str(effect.changed),
        "–" if effect.changed_sets is None else str(effect.changed_sets),
        *map(_gold, (effect.promoted, effect.demoted, effect.lost)),
        *(figure(values.get(name)) for name in names for values in (reached, pool)),
    ]


def _gold(part: GoldPart | None) -> str:
    return "–" if part is None else f"{part.segments} in {part.questions}" if part.segments else "0"


def _idle(effect: EffectPart) -> str:
    if not effect.calls:
        return "worked on no question"
    if effect.changed == 0:
        same = ": without it the pipeline finds the same" if effect.against == "pipeline without it" else ""
        return f"changed none of {effect.calls} rankings{same}"
    if effect.changed_sets == 0:
        first = f"the first {effect.k}"
        return (
            f"reordered {effect.changed} of {effect.calls} rankings, but changed no set of {first}: recall can't tell"
        )
    return ""
